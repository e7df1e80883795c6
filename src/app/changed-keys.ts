import type { Configuration } from '../config/configuration.ts'
import { Secret } from '../domain/secret.ts'

/**
 * Sections that only a restart changes: listeners, and everything that the held records and their storage depend on.
 */
const FIXED = [
  'listen',
  'operations',
  'timeZone',
  'feeds',
  'crm',
  'snapshot',
  'cluster',
] as const satisfies readonly (keyof Configuration)[]

/** Keys within other sections that only a restart changes: they decide which records are held. */
const FIXED_KEYS: readonly string[] = [...FIXED, 'representation.further']

/** Keys that change at the next restart, without blocking the reload of other keys; with their names in messages. */
const AT_RESTART: ReadonlyMap<string, string> = new Map([
  ['cluster.key', 'cluster.key'],
  ['crm.path.sha256', 'the changed file of crm.path'],
  ['crm.run.files', 'a changed file of crm.run'],
  ['isTimeZoneSet', 'timeZone'],
])

/** A setting of a list whose parts have no keys in the file: the mapping of a field, or a condition. */
const MAPPED = /^(crm\.(?:events|venues)\.(?:fields\.[^.]+|active|showOnWeb))\..+$/

/** Returns the keys whose values differ. A change of `fixed` keys requires a restart; `later` keys wait for one. */
export function changedKeys(
  before: Configuration,
  after: Configuration,
): { readonly changed: readonly string[]; readonly fixed: readonly string[]; readonly later: readonly string[] } {
  const isOtherCrm = before.crm.kind !== after.crm.kind
  const all = isOtherCrm
    ? [...differences({ ...before, crm: null }, { ...after, crm: null }, ''), 'crm.kind']
    : differences(before, after, '')
  const later = all.map((key) => AT_RESTART.get(key)).filter((key) => key !== undefined)
  const named = [...new Set(all.filter((key) => !AT_RESTART.has(key)).map(keyInFile))]
  const changed = named.filter((key) => !named.some((above) => key.startsWith(`${above}.`)))
  return {
    changed,
    later,
    fixed: changed.filter((key) => FIXED_KEYS.some((name) => key === name || key.startsWith(`${name}.`))),
  }
}

function differences(before: unknown, after: unknown, key: string): string[] {
  if (before instanceof Secret && after instanceof Secret) return isSame(before, after, key) ? [] : [key]
  // Lists and time zones are compared as a whole: the changed item alone would not help the operator.
  if (!isSection(before) || !isSection(after)) return JSON.stringify(before) === JSON.stringify(after) ? [] : [key]
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...names].flatMap((name) =>
    differences(before[name], after[name], key === '' ? nameOf(name) : `${key}.${nameOf(name)}`),
  )
}

function isSection(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}

/**
 * Returns true if a secret is unchanged. For a credential of the CRM or the store only the source matters if it can be
 * read again: Marquee reads it again when the credential is refused.
 */
function isSame(before: Secret, after: Secret, key: string): boolean {
  const rotates = (key.startsWith('crm.') || key === 'cluster.url') && before.isReread && before.from === after.from
  return rotates || before.reveal() === after.reveal()
}

/** Returns the key under which the file has the setting. */
function keyInFile(key: string): string {
  return key.replace(/^(crm\.(?:events|venues))\.block\b/, '$1').replace(MAPPED, '$1')
}

/** Returns the name as the file spells it: names of settings carry a unit. */
function nameOf(name: string): string {
  return name.replace(/(?:Ms|Bytes)$/, '')
}
