/** Returns the path of each field of a document; all members of a list count as one, `[]`. */
export function namesIn(value: unknown, around = ''): readonly string[] {
  if (Array.isArray(value)) return unique(value.flatMap((item) => namesIn(item, `${around}[]`)))
  if (typeof value !== 'object' || value === null) return []
  return unique(
    Object.entries(value).flatMap(([name, inner]) => {
      const path = around === '' ? name : `${around}.${name}`
      return [path, ...namesIn(inner, path)]
    }),
  )
}

/** Keys of an OpenAPI document that are about people, or repeat what stands elsewhere. */
const PROSE: ReadonlySet<string> = new Set([
  'description',
  'summary',
  'example',
  'examples',
  'title',
  'required',
  'info',
  'servers',
])

/** Returns what callers may rely on in an OpenAPI document: paths, parameters by name, answers, properties, values. */
export function schemaNamesIn(value: unknown, around = ''): readonly string[] {
  if (Array.isArray(value)) {
    return value.flatMap((item: unknown) => {
      if (typeof item !== 'object' || item === null) return [`${around}[${String(item)}]`]
      const name = 'name' in item ? String(item.name) : '$ref' in item ? String(item.$ref) : ''
      return [`${around}[${name}]`, ...schemaNamesIn(item, `${around}[${name}]`)]
    })
  }
  if (typeof value !== 'object' || value === null) return []
  return unique(
    Object.entries(value).flatMap(([name, inner]) => {
      // A property may have the name of a keyword.
      if (PROSE.has(name) && !around.endsWith('.properties')) return []
      const path = around === '' ? name : `${around}.${name}`
      return [path, ...schemaNamesIn(inner, path)]
    }),
  )
}

function unique(names: readonly string[]): readonly string[] {
  return [...new Set(names)]
}
