import { orderIndexOf } from '../order/list-index.ts'
import { stat } from 'node:fs/promises'
import { textOf as bodyText } from '../domain/body.ts'
import { howMany, printable, spanText } from '../domain/printable.ts'
import { codeOf } from '../domain/system-error.ts'
import { ZONE_DATA_VERSION } from '../domain/zone-data.ts'
import type { Configuration } from '../config/configuration.ts'
import {
  type Asides,
  type Passing,
  type Report,
  NOTHING_READ,
  reportOf,
  zoneNotSet,
  fieldTable,
} from './check-report.ts'
import type { TriedWebhook } from '../webhooks/webhooks.ts'
import type { StoreChecked } from './check-cluster.ts'
import { loadFound } from '../config/read-configuration.ts'
import { systemTime } from '../time/time.ts'
import { type CrmRead, hasTextKeys, readCrm, webhookClient } from '../app/assemble.ts'
import { type CommandContext, ANSWER_IS_NO, FINE, WRONG_USAGE } from '../app/command-context.ts'
import { columnsRead } from '../crm/files/list-file.ts'
import { type WithheldFault, isOnPurpose } from '../domain/withheld.ts'
import type { FaultGroup } from '../faults/fault-groups.ts'
import { unmatchedVenues } from '../faults/venue-references.ts'
import type { TextKeyFor } from '../proposal/text-keys.ts'
import { Secret } from '../domain/secret.ts'
import type { ListName } from '../domain/field.ts'
import type { ListReading } from '../sync/port.ts'

export interface CheckOptions {
  readonly config?: string
  readonly json?: boolean
  /** The number of records of each list to show as they would be published. */
  readonly show?: number
  readonly strict?: boolean
  /** Whether to examine the connector thoroughly. */
  readonly connector?: boolean
  /** Whether to print each request to the CRM. */
  readonly trace?: boolean
  /** Whether to send a test to each webhook. */
  readonly webhooks?: boolean
}

/** Reads the configuration and the CRM once, and reports what would be served and withheld. Serves nothing. */
export async function check(
  { config, json = false, show = 0, strict = false, connector = false, trace = false, webhooks = false }: CheckOptions,
  context: CommandContext,
): Promise<number> {
  const { out, error, answer } = context
  const found = await loadFound({ config }, context)
  if (!found.ok) {
    if (json) await answer(JSON.stringify({ ...NOTHING_READ, warnings: [], problems: found.problems }))
    else for (const problem of found.problems) error(problem)
    return WRONG_USAGE
  }
  if (!json) out(`Checking ${printable(found.from)}.`)
  const { configuration } = found
  const [tracing, onSlow] = [trace ? error : undefined, json ? undefined : error]
  const crm = await readCrm(configuration, { isThorough: connector, trace: tracing, onSlow })
  const { cluster } = configuration
  const { lists } = crm
  const recordBytes = lists.events.list.sizeBytes + lists.venues.list.sizeBytes
  const store =
    cluster === null
      ? NO_STORE
      : await (await import('./check-cluster.ts')).checkCluster(cluster, configuration, crm.marquee.crm, recordBytes)
  const tried = webhooks ? await triedWebhooks(configuration) : []
  const refused = tried.flatMap(({ ok, sentence }) => (ok ? [] : [sentence]))
  const snapshotProblems = await problemsOfSnapshot(configuration)
  const losses = crm.findings.filter(({ losesRows }) => losesRows).map(({ sentence }) => sentence)
  const others = crm.findings.filter(({ losesRows }) => !losesRows).map(({ sentence }) => sentence)
  const noted = readingWarnings(crm.readings, configuration)
  const warnings = [...found.warnings, ...crm.warnings, ...noted, ...others, ...store.warnings]
  const keyFor: TextKeyFor = hasTextKeys(configuration.crm)
    ? (await import('../proposal/text-keys.ts')).textKeyFor
    : () => null
  const unmatched = await unmatchedVenues(lists, crm.marquee.suspicions)
  const { report: read, asides } = reportOf(crm, configuration, warnings, keyFor, unmatched)
  const report = {
    ...read,
    ok: read.ok && losses.length + store.problems.length + snapshotProblems.length + refused.length === 0,
    problems: [...read.problems, ...losses, ...store.problems, ...snapshotProblems, ...refused],
  }
  if (!json) {
    printReport({ ...report, ok: read.ok }, asides, configuration, context)
    if (store.server !== null) {
      // The rights on a replica, or on a server that is too old, were not tried.
      const rights = store.problems.length === 0 ? 'all rights granted' : 'but not usable'
      out(printable(`Cluster store: ${store.server}, reachable, ${rights}.`))
    }
    for (const { ok, sentence } of tried) if (ok) out(sentence)
    for (const line of readingLines(crm.readings, configuration)) out(line)
    out(`Time zone data: ${ZONE_DATA_VERSION}.`)
    for (const line of [notYetOverLine(crm, configuration), secretsLine(configuration)]) if (line !== null) out(line)
    if (show > 0) printRecords(crm, show, context)
    for (const line of fieldTable(report.fields)) out(line)
  } else {
    const records = show > 0 ? `,"records":${recordsAsJson(crm, show)}` : ''
    if (!(await answer(`${JSON.stringify(report).slice(0, -1)}${records}}`))) return ANSWER_IS_NO
  }
  const isMisconfigured = crm.failures.some(({ failure }) => failure.kind === 'misconfigured')
  if (isMisconfigured || losses.length + snapshotProblems.length > 0) return WRONG_USAGE
  if (strict && (asides.mistakes > 0 || report.suspicious.length > 0 || asides.servesNothing)) return ANSWER_IS_NO
  return report.ok ? FINE : ANSWER_IS_NO
}

async function triedWebhooks({ webhooks }: Configuration): Promise<readonly TriedWebhook[]> {
  if (webhooks.length === 0) return [{ ok: true, sentence: 'There are no webhooks to test.' }]
  const { tryWebhooks } = await import('../webhooks/webhooks.ts')
  return tryWebhooks(await webhookClient(null), webhooks, systemTime)
}

const NO_STORE: StoreChecked = { server: null, problems: [], warnings: [] }

/** Reports a snapshot directory that a start could not create because a file is in its place. */
async function problemsOfSnapshot({ snapshot }: Configuration): Promise<readonly string[]> {
  if (snapshot === null) return []
  const found = await stat(snapshot.directory).catch((cause: unknown) => codeOf(cause))
  const isBlocked = typeof found === 'object' ? found?.isDirectory() === false : found === 'ENOTDIR'
  return isBlocked
    ? [`snapshot.directory: ${snapshot.directory} is not a directory: name another, or write snapshot: null`]
    : []
}

/** Describes how many events `/api/events` lists; `null` if lists are off or the events could not be read. */
function notYetOverLine({ lists, failures }: CrmRead, { lists: areOn }: Configuration): string | null {
  if (!areOn || failures.some(({ list }) => list === 'events')) return null
  const { list } = lists.events
  const index = orderIndexOf(list)
  if (index === null) return null
  const count = index.countFrom(systemTime.now().wallMs)
  return `/api/events lists ${count.toLocaleString('en')} of ${list.served.toLocaleString('en')}: the events that are not over.`
}

const MOST_GROUPS = 40
const MOST_EXAMPLES = 3

/** Prints a report: general problems, the totals, then each group, mistakes first. */
function printReport(
  { ok, events, venues, groups, suspicious, zone, passing = [], withheld, warnings, problems }: Report,
  { mistakes, onPurpose, ignoredOf }: Asides,
  { crm, representation }: Configuration,
  { out, error }: Pick<CommandContext, 'out' | 'error'>,
): void {
  for (const problem of problems) error(printable(problem))
  for (const warning of warnings) error(`warning: ${printable(warning)}`)
  for (const { kind, column, what, count, example } of suspicious) {
    if (what !== zoneNotSet(zone))
      error(`warning: ${printable(`${column} ${what} (${howMany(count, kind)}; ${example})`)}`)
  }
  for (const [list, columns] of ignoredOf) {
    const names = columns.map((column) => JSON.stringify(column)).join(', ')
    const unused = columns.length === 1 ? `column ${names} is not used` : `columns ${names} are not used`
    out(
      printable(
        `${list}: ${unused}; the columns used are ${columnsRead(crm, list, representation.further).columns.join(', ')}.`,
        4000,
      ),
    )
  }
  if (zone.datesWithoutOffset > 0) {
    const verbs = zone.datesWithoutOffset === 1 ? 'has no offset and is' : 'have no offset and are'
    const fact = `${howMany(zone.datesWithoutOffset, 'date')} ${verbs} read as ${zone.name}`
    if (zone.set) out(`${fact}.`)
    else error(`warning: ${fact}, because timeZone is not set; set it, for example timeZone: Europe/London`)
  }
  const not = withheld.length === 0 ? '' : `, ${howMany(withheld.length, 'row')} would not`
  out(`${howMany(events, 'event')} and ${howMany(venues, 'venue')} would be served${not}.`)
  if (!ok) out('Until both lists can be read, `./marquee serve` answers 502 for each list that could not be read.')
  const toCorrect = groups.filter((group) => !isOnPurpose(group))
  for (const one of passing) out(printable(passingLine(one), 1000))
  printGroups('To correct', mistakes, toCorrect, out)
  printGroups('Withheld because the CRM says so', onPurpose, groups.filter(isOnPurpose), out)
}

function printGroups(title: string, rows: number, groups: readonly FaultGroup[], out: (line: string) => void): void {
  if (groups.length === 0) return
  out(`\n${title} (${rows === 0 ? 'in the same rows' : howMany(rows, 'row')}):`)
  for (const group of groups.slice(0, MOST_GROUPS)) out(printable(`- ${sentenceOf(group)}`, 1000))
  const more = groups.length - MOST_GROUPS
  if (more > 0) out(`  … and ${howMany(more, 'other kind')} of fault: \`./marquee check --json\` lists them all.`)
}

const MOST_PASSING = 20

function passingLine({ kind, column, values }: Passing): string {
  const shown = values.slice(0, MOST_PASSING).map(({ value, count }) => `${JSON.stringify(value)} (${grouped(count)})`)
  const more = values.length - shown.length
  const others = more > 0 ? ` and ${howMany(more, 'other value')}` : ''
  return `${column} of the ${kind}s: besides blank cells, \`not\` accepts ${shown.length === 0 ? 'no value' : shown.join(', ')}${others}.`
}

const WORDS: Readonly<Record<WithheldFault, string>> = {
  'no-id': 'no valid id',
  'duplicate-id': 'the id of another row',
  unreadable: 'cannot be read',
  missing: 'nothing there',
  inactive: 'not active',
  'not-shown': 'not marked to be shown on the web',
  'too-large': 'larger than 256 KB',
}

function sentenceOf({ kind, column, fault, count, found, examples, remedy }: FaultGroup): string {
  const values = found.map((one) => `${JSON.stringify(one.value)} (${grouped(one.count)})`).join(', ')
  const places = examples.slice(0, MOST_EXAMPLES).map(({ where }) => where)
  const more = count > places.length ? '; …' : ''
  const subject = `${column ?? 'The row'}: ${howMany(count, kind)}, ${WORDS[fault]}`
  return `${subject}${values === '' ? '' : `; found ${values}`}. ${remedy} See ${places.join('; ')}${more}.`
}

/** Returns the first records of a list as they would be published, in the CRM's order. */
function bodiesOf({ lists, marquee: { suspicions } }: CrmRead, list: ListName, most: number): readonly string[] {
  const records = lists[list].list
  const ids = [...suspicions[list].firstIds].filter((id) => records.serves(id)).slice(0, most)
  return ids.map((id) => bodyText(records.represent(id, 'json')?.body ?? ''))
}

function printRecords(crm: CrmRead, most: number, { out }: CommandContext): void {
  for (const list of ['events', 'venues'] as const) {
    const bodies = bodiesOf(crm, list, most)
    if (bodies.length === 0) continue
    const kind = list.slice(0, -1)
    out(`\nThe first ${bodies.length === 1 ? kind : howMany(bodies.length, kind)} as published:`)
    for (const body of bodies) out(printable(body, 100_000))
  }
}

/** The bodies themselves, because their numbers have digits that parsing would lose. */
function recordsAsJson(crm: CrmRead, most: number): string {
  const lists = (['events', 'venues'] as const).map((list) => `"${list}":[${bodiesOf(crm, list, most).join(',')}]`)
  return `{${lists.join(',')}}`
}

function grouped(count: number): string {
  return count.toLocaleString('en')
}

const HOUR_MS = 3_600_000
/** The pause after a 429 or 503 without a `Retry-After`. */
const PAUSE_MS = 10_000

/** Says how each list is read, and what the full read found. */
export function readingLines(readings: readonly ListReading[], { freshness }: Timed): readonly string[] {
  return readings.map((reading) => {
    const { list, rows, pages, pageRows, isEndEmpty, total, budget } = reading
    const crmCount = total === null ? '' : `; the CRM counts ${grouped(total)}`
    const tickets = reading.readsTickets ? `, the tickets every ${spanText(freshness.refreshEveryMs)}` : ''
    const read = `The ${list} are read ${howRead(reading, freshness)}${tickets}`
    if (budget === null) return `${read}: ${howMany(rows, 'row')}${crmCount}.`
    const cost = `about ${grouped(requestsAnHour(reading, readings, freshness))} requests an hour`
    const paged = pages < 2 ? 'one page' : `${grouped(pages)} pages, ${grouped(pageRows)} rows on page 1`
    const end = isEndEmpty ? 'with an empty page' : 'without a next page'
    return `${read}, ${cost}: ${howMany(rows, 'row')}, ${paged}${crmCount}; the list ended ${end}.`
  })
}

/** Page sizes that APIs have by default. */
const ROUND = new Set([
  10, 15, 20, 24, 25, 30, 40, 50, 60, 75, 100, 120, 150, 200, 250, 300, 400, 500, 1000, 2000, 5000,
])

/** Warns of a list that may be only its first page, and of a maximum age that the budget or a pause does not allow. */
export function readingWarnings(readings: readonly ListReading[], timed: Timed): readonly string[] {
  const halves = readings.flatMap(({ list, ways, rows, pages, isFirstFull, isEndEmpty, total }) => {
    // A CRM that reports changes says by itself whether a page follows.
    const isUncertain = pages === 1 && !isEndEmpty && total === null && !ways.has('changes')
    const mayBeHalf = isUncertain && (isFirstFull || ROUND.has(rows))
    return mayBeHalf
      ? [`${list}: the whole list is one answer of exactly ${rows} rows: is it only the first page?`]
      : []
  })
  return [...halves, ...budgetWarnings(readings, timed)]
}

function budgetWarnings(readings: readonly ListReading[], { freshness }: Timed): readonly string[] {
  const [budget] = readings.flatMap((reading) => reading.budget ?? [])
  if (budget === undefined) return []
  const needed = readings.reduce((sum, reading) => sum + requestsAnHour(reading, readings, freshness), 0)
  const allowed = Math.floor((budget.most * HOUR_MS) / budget.perMs)
  const { maxAgeMs } = freshness
  return [
    ...(needed > allowed
      ? [
          `both lists need about ${grouped(needed)} requests an hour, and the budget allows ${grouped(allowed)}: raise requests, or freshness.maxAge and freshness.refreshEvery`,
        ]
      : []),
    ...(maxAgeMs > 0 && maxAgeMs <= PAUSE_MS
      ? [
          `a 429 or 503 without Retry-After costs a pause of ${PAUSE_MS / 1000} s, which is too long for freshness.maxAge`,
        ]
      : []),
  ]
}

/** Names the secrets of the CRM and their sources, never their values; `null` if there are none. */
function secretsLine({ crm }: Pick<Configuration, 'crm'>): string | null {
  const named = secretsAt(crm, 'crm').map(([key, { from }]) => `${key}, from ${from}`)
  return named.length === 0 ? null : `Secrets: ${named.join('; ')}.`
}

function secretsAt(value: unknown, key: string): readonly (readonly [string, Secret])[] {
  if (value instanceof Secret) return value.isReferred ? [[key, value]] : []
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => secretsAt(inner, `${key}.${name}`))
}

type Freshness = Pick<Configuration['freshness'], 'maxAgeMs' | 'refreshEveryMs' | 'fullReadEveryMs'>
type Timed = { readonly freshness: Freshness }

function howRead({ ways, updatedAt }: ListReading, freshness: Freshness): string {
  const full = `in full every ${spanText(freshness.fullReadEveryMs)}`
  const compared = spanText(comparedEveryMs(freshness))
  if (ways.has('since') && ways.has('ids')) return `by changes of ${updatedAt}, all ids every ${compared}, ${full}`
  if (ways.has('since')) return `by changes of ${updatedAt}, in full every ${compared}`
  if (ways.has('changes')) return `by the changes that the CRM reports, ${full}`
  return `in full every ${spanText(freshness.refreshEveryMs)}`
}

/** Estimates the requests for a list from those that `check` sent; what it did not count follows from the pages. */
function requestsAnHour(reading: ListReading, readings: readonly ListReading[], freshness: Freshness): number {
  const { ways, pages, isEndEmpty, requests, readsTickets } = reading
  const pass = pages + Number(isEndEmpty)
  const full = requests.get('full') ?? pass
  const refreshes = HOUR_MS / freshness.refreshEveryMs
  const tickets = readsTickets ? refreshes * (requests.get('availability') ?? pass) : 0
  const inFull = (HOUR_MS / freshness.fullReadEveryMs) * full
  if (!ways.has('since')) return Math.round((ways.has('changes') ? refreshes + inFull : refreshes * full) + tickets)
  // The examination tries `since` on one list only, and without rows. The newest rows come again at each refresh: one
  // page of rows, with the requests for rows that are linked to them.
  const [empty = 1] = [reading, ...readings].flatMap((one) => one.requests.get('since') ?? [])
  const withRows = pages === 0 ? 0 : (full - Number(isEndEmpty)) / pages - Number(!isEndEmpty)
  const compared = ways.has('ids') ? (requests.get('ids') ?? pass) : full
  return Math.round(
    refreshes * (empty + withRows) + (HOUR_MS / comparedEveryMs(freshness)) * compared + inFull + tickets,
  )
}

/** Returns the interval of comparing all rows of a list that is read by changes: half the maximum age. */
function comparedEveryMs({ maxAgeMs, refreshEveryMs }: Freshness): number {
  return Math.max(maxAgeMs / 2, refreshEveryMs)
}
