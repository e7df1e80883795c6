/** Replaces a method or property by what `mutate` makes of it. Returns a function that restores it. */
export function override<Target, Key extends keyof Target>(
  target: Target,
  key: Key,
  mutate: (original: Target[Key]) => Target[Key],
): () => void {
  const original = target[key]
  target[key] = mutate(original)
  return () => {
    target[key] = original
  }
}

/** Like `override`, for a getter. */
export function overrideGetter<Target extends object, Key extends keyof Target & string>(
  target: Target,
  key: Key,
  mutate: (instance: Target, original: () => Target[Key]) => Target[Key],
): () => void {
  const described = Object.getOwnPropertyDescriptor(target, key)
  if (described === undefined) throw new Error(`${key} is no getter`)
  const before = Object.create(null, { [key]: described }) as object
  Object.defineProperty(target, key, {
    configurable: true,
    get(this: Target) {
      return mutate(this, () => Reflect.get(before, key, this) as Target[Key])
    },
  })
  return () => {
    Object.defineProperty(target, key, described)
  }
}
