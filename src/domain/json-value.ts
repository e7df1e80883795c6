/** A value that JSON can write. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonValues

export interface JsonValues {
  readonly [name: string]: JsonValue
}

/**
 * Returns the value at a path such as `place.id`; `null` if there is none. Also finds a name that contains a point, such
 * as OData's `@odata.nextLink`.
 */
export function valueAt(value: JsonValue | undefined, path: string): JsonValue {
  if (typeof value !== 'object' || value === null) return null
  const end = Object.hasOwn(value, path) ? path.length : path.indexOf('.')
  const step = path.slice(0, end)
  if (end === -1 || !Object.hasOwn(value, step)) return null
  const inner: unknown = Reflect.get(value, step)
  if (!isValue(inner)) return null
  return end === path.length ? inner : valueAt(inner, path.slice(end + 1))
}

export function isJsonList(value: unknown): value is readonly JsonValue[] {
  return Array.isArray(value)
}

export function isJsonObject(value: unknown): value is JsonValues {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

type ChangeText = (text: string) => JsonValue | undefined

/** Replaces the texts in a value, but no names. Omits what becomes undefined; in a list it is null. */
export function mapTexts(value: JsonValue, change: ChangeText): JsonValue {
  if (typeof value === 'string') return change(value) ?? null
  if (typeof value !== 'object' || value === null) return value
  return isJsonList(value) ? value.map((item) => mapTexts(item, change)) : mapTextsIn(value, change)
}

export function mapTextsIn(values: JsonValues, change: ChangeText): JsonValues {
  const changed = Object.entries(values).flatMap(([name, value]) => {
    const made = typeof value === 'string' ? change(value) : mapTexts(value, change)
    return made === undefined ? [] : [[name, made] as const]
  })
  return Object.fromEntries(changed)
}

/** Values of a user's connector may be anything. */
function isValue(value: unknown): value is JsonValue {
  return value !== undefined && typeof value !== 'function' && typeof value !== 'symbol' && typeof value !== 'bigint'
}

/** The properties of a JSON object that another process wrote. */
export type JsonFields = Partial<Readonly<Record<string, unknown>>>

/** Returns the properties of a parsed JSON object; none for any other value. */
export function fieldsOf(value: unknown): JsonFields {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

export function numberAt(fields: JsonFields, name: string): number {
  const value = fields[name]
  if (typeof value !== 'number' || !(value >= 0)) throw new Error(`${name} must be a number, 0 or more`)
  return value
}

export function countAt(fields: JsonFields, name: string): number {
  const value = numberAt(fields, name)
  if (!Number.isSafeInteger(value)) throw new Error(`${name} must be a whole number`)
  return value
}

export function textAt(fields: JsonFields, name: string): string {
  const value = fields[name]
  if (typeof value !== 'string') throw new Error(`${name} must be a text`)
  return value
}

export function textOrNullAt(fields: JsonFields, name: string): string | null {
  return fields[name] === null ? null : textAt(fields, name)
}

export function listAt(fields: JsonFields, name: string): readonly unknown[] {
  const value = fields[name]
  if (!Array.isArray(value)) throw new Error(`${name} must be a list`)
  return value
}
