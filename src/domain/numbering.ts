/** Returns a function that makes repeated names unique with a number, as spreadsheets do. */
export function numbering(): (name: string) => string {
  // The next number for each name: a header may repeat one name a million times.
  const next = new Map<string, number>()
  return (name) => {
    let own = name
    let number = next.get(name) ?? 1
    while (next.has(own)) own = `${name} (${++number})`
    next.set(name, number).set(own, next.get(own) ?? 1)
    return own
  }
}
