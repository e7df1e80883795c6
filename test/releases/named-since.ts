/**
 * Returns whether the parts of the changelog about versions after this one name something: the last word of a key, a
 * metric or a path. A name is in backticks, or is a phrase as it stands.
 */
export function namedSince(changelog: string, version: string): (name: string) => boolean {
  const later = changelog
    .split(/^(?=## )/m)
    .filter((part) => isAfter(/^## (\d+\.\d+\.\d+)/.exec(part)?.[1] ?? version, version))
    .join('')
  return (name) => {
    const last = /[\w-]+(?=\W*$)/.exec(name.split(/[ {]/)[0] ?? name)?.[0] ?? name
    return later.includes(name) || new RegExp(`\`[^\`]*(?<![\\w-])${last}(?![\\w-])[^\`]*\``).test(later)
  }
}

function isAfter(one: string, other: string): boolean {
  const [left, right] = [one, other].map((version) => version.split('.').map(Number))
  const at = left?.findIndex((number, index) => number !== right?.[index]) ?? -1
  return at !== -1 && (left?.[at] ?? 0) > (right?.[at] ?? 0)
}
