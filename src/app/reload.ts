import { setTimeout as pause } from 'node:timers/promises'
import { isatty } from 'node:tty'
import type { Configuration } from '../config/configuration.ts'
import type { Observe } from '../observe/observation.ts'
import { bugPlace, printable } from '../domain/printable.ts'
import { type ConfigurationOptions, loadFound } from '../config/read-configuration.ts'
import type { Running } from './operations.ts'
import type { CommandContext } from './command-context.ts'
import { Secret } from '../domain/secret.ts'

/** How long npm may take to end after a SIGHUP, which may reach its child first. */
const NPM_ENDS_MS = 1000
const STANDARD_OUTPUT = 1

/**
 * Returns the function to call on SIGHUP. It reloads the configuration; signals that arrive meanwhile cause one further
 * reload. It resolves to true if the terminal or the npm that started the service is gone: nothing else would end it.
 * `keepLimits` applies the listener's own limits.
 */
export function onHangUp(
  running: Running,
  options: ConfigurationOptions,
  context: CommandContext,
  observe: Observe,
  keepLimits: (configuration: Configuration) => void,
): () => Promise<boolean> {
  const { isTerminal, env } = context
  const parent = process.ppid
  const isNpms = env['npm_lifecycle_event'] !== undefined
  let isReading = false
  let isAskedAgain = false

  function refuse(problems: readonly string[]): void {
    running.refused = { at: new Date().toISOString(), problems: problems.map((problem) => printable(problem, 1000)) }
    observe({ kind: 'reload-refused', problems })
  }

  async function reload(): Promise<void> {
    const found = await loadFound(options, context)
    if (running.stopping) return
    if (!found.ok) return refuse(found.problems)
    const { configuration, warnings } = found
    const { changed, fixed, later } = changedKeys(running.current.configuration, configuration)
    if (fixed.length > 0) {
      const verb = fixed.length === 1 ? 'has' : 'have'
      const problem = `${fixed.join(', ')} ${verb} changed, which takes effect only when the service is started again`
      // If another file is read than at the start, that is the cause, and the keys do not show it.
      return refuse([found.from === running.from ? problem : `${problem}; the configuration is now ${found.from}`])
    }
    for (const message of warnings) observe({ kind: 'crm-noticed', message })
    // Without a change, too, receivers that failed are called again.
    if (changed.length === 0 && later.length === 0) running.marquee.webhooks?.adopt(configuration.webhooks)
    else {
      await running.marquee.adopt(configuration)
      running.telemetry.logsRequests = configuration.log.requests
      keepLimits(configuration)
    }
    running.refused = null
    observe({ kind: 'reloaded', changed, later })
  }

  return async () => {
    if (isTerminal && !isatty(STANDARD_OUTPUT)) return true
    isAskedAgain = true
    while (isAskedAgain && !isReading && !running.stopping) {
      isAskedAgain = false
      isReading = true
      await reload().catch((cause: unknown) => observe({ kind: 'internal-error', message: bugPlace(cause) }))
      isReading = false
    }
    if (!isNpms) return false
    await pause(NPM_ENDS_MS)
    return process.ppid !== parent
  }
}

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
  if (Array.isArray(before) && Array.isArray(after)) {
    const [items, others]: readonly (readonly unknown[])[] = [before, after]
    const isEqual =
      items?.length === others?.length && items?.every((item, at) => differences(item, others?.[at], key).length === 0)
    return isEqual ? [] : [key]
  }
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
