import type { Configuration } from './configuration.ts'
import { Secret } from './secret.ts'

/** What only a restart changes: listeners, all that the records held here were made by, and where they are kept. */
const FIXED = [
  'listen',
  'operations',
  'timeZone',
  'crm',
  'snapshot',
  'cluster',
] as const satisfies readonly (keyof Configuration)[]

/** What takes effect at a restart, and keeps nothing else from a reload. */
const AT_RESTART = 'cluster.key'

/** The keys whose values differ; `fixed` are those that only a restart changes, `later` those that wait for one. */
export function changedKeys(
  before: Configuration,
  after: Configuration,
): { readonly changed: readonly string[]; readonly fixed: readonly string[]; readonly later: readonly string[] } {
  const all = differences(before, after, '')
  const later = all.filter((key) => key === AT_RESTART)
  const changed = all.filter((key) => key !== AT_RESTART)
  return {
    changed,
    later,
    fixed: changed.filter((key) => FIXED.some((name) => key === name || key.startsWith(`${name}.`))),
  }
}

function differences(before: unknown, after: unknown, key: string): string[] {
  if (before instanceof Secret && after instanceof Secret) return isSame(before, after, key) ? [] : [key]
  // What is no section is named as a whole: which place of a list differs says little, and a zone is its name.
  if (!isSection(before) || !isSection(after)) return JSON.stringify(before) === JSON.stringify(after) ? [] : [key]
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...names].flatMap((name) =>
    differences(before[name], after[name], key === '' ? nameOf(name) : `${key}.${nameOf(name)}`),
  )
}

function isSection(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}

/** A secret of the CRM or the store whose source is read again whenever it is refused needs no restart where its text is another. */
function isSame(before: Secret, after: Secret, key: string): boolean {
  const rotates = (key.startsWith('crm.') || key === 'cluster.url') && before.isReread && before.from === after.from
  return rotates || before.reveal() === after.reveal()
}

/** The key as the file has it: numbers carry their units in the settings' names. */
function nameOf(name: string): string {
  return name.replace(/(?:Ms|Bytes)$/, '')
}
