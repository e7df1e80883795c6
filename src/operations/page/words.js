/** The reasons why rows are withheld. */
export const REASONS = {
  inactive: 'not active',
  'not-shown': 'not marked to be shown on the web',
  missing: 'something is missing',
  unreadable: 'a value cannot be read',
  'no-id': 'no valid id',
  'duplicate-id': 'the id of another row',
  'too-large': 'larger than 256 KB',
}

const ON_PURPOSE = new Set(['inactive', 'not-shown'])

/** Whether the reason is a mistake, not a choice. */
export function isMistake(reason) {
  return !ON_PURPOSE.has(reason)
}

const DAY_MS = 24 * 3_600_000
/** Clocks that differ by more than this are worth a sentence. */
const CLOCKS_DIFFER_MS = 3_600_000
const NUMBERS = new Intl.NumberFormat('en')
const CLOCK = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' })
const DAY_AND_CLOCK = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })

export function numberText(number) {
  return NUMBERS.format(number)
}

/** Formats a time span: `3 s`, `5 min`, `2 h`, `4 days`; null as "never". */
export function spanText(ms) {
  if (ms === null) return 'never'
  const seconds = Math.round(ms / 1000)
  if (seconds < 120) return `${seconds} s`
  const minutes = Math.round(seconds / 60)
  if (minutes < 120) return `${minutes} min`
  const hours = Math.round(minutes / 60)
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} days`
}

/** Formats a time of day in the browser's time zone. */
export function clockText(iso) {
  return CLOCK.format(new Date(iso))
}

export function dayText(iso) {
  return DAY_AND_CLOCK.format(new Date(iso))
}

/** Says which losses the shrink guard refuses, and what callers get meanwhile. */
export function lossText(name, { until, absent, unreadable }) {
  const missing = absent === 0 ? [] : [`${numberText(absent)} ${name} are missing from the CRM's list`]
  const broken = unreadable === 0 ? [] : [`${numberText(unreadable)} ${name} became unreadable`]
  return `${[...missing, ...broken].join(' and ')}, which Marquee does not believe. ${keptText(until)}`
}

function keptText(until) {
  if (until === null) return 'The age of the old list is unknown since the restart, so callers get 502'
  const isServed = new Date(until) > new Date()
  return isServed ? `The old list is served until ${dayText(until)}` : 'Callers get 502 once the old list is too old'
}

/** Describes the state of the service in a sentence, with its class. */
export function stateOf(status) {
  if (status.stopping) return ['warn', 'The service is stopping.']
  const lists = Object.entries(status.lists)
  const maxAge = spanText(status.settings.maxAgeMs)
  const silent = lists.filter(([, list]) => !list.answers)
  if (silent.length > 0) {
    const names = silent.map(([name]) => name).join(' and ')
    const why = silent.map(([, list]) => list.lastError).find((message) => message !== null)
    const reason = status.cluster?.lastError ?? why ?? ageText(silent, maxAge)
    return ['bad', `Callers get 502 for ${names}: ${reason}.`]
  }
  const shrunk = lists.filter(([, list]) => list.shrunk !== null)
  if (shrunk.length > 0) {
    const what = shrunk.map(([name, list]) => lossText(name, list.shrunk)).join('; ')
    return ['bad', `${what}. Accept it below, if the CRM is right.`]
  }
  const empty = lists.filter(([, list]) => list.servesNothing)
  if (empty.some(([, list]) => list.withheld === 0))
    return ['bad', 'The list of venues is empty, though events name venues: their /venue answers 404.']
  if (empty.length > 0) {
    const what = empty.map(([name, list]) => `none of the ${numberText(list.withheld)} ${name}`).join(' and ')
    return ['warn', `Of the rows of the CRM ${what} is served: all are withheld. The reasons are below.`]
  }
  const failing = lists.filter(([, list]) => list.lastError !== null && !list.waits)
  const stale = lists.filter(([, list]) => list.standing === 'stale')
  if (stale.length > 0) {
    const oldest = Math.max(...stale.map(([, list]) => list.confirmedAgeMs))
    return ['warn', `${failureText(status, stale)}, with data ${spanText(oldest)} old.`]
  }
  if (failing.length > 0) return ['warn', `${failureText(status, failing)}; the data is still within ${maxAge}.`]
  const unfinished = lists.find(([, list]) => list.waits)
  if (unfinished !== undefined) return ['warn', `Callers get data at most ${maxAge} old; ${unfinished[1].lastError}.`]
  if (status.lists.events.served === 0) return ['warn', 'Callers get no events: the CRM has none.']
  if (status.lists.events.allOverSince !== null) return ['warn', overText(status)]
  if (status.snapshotError !== null)
    return [
      'warn',
      `Callers get data at most ${maxAge} old; no snapshot can be written for a restart: ${status.snapshotError}.`,
    ]
  const unreached = (status.webhooks ?? []).find(({ failingSince }) => failingSince !== null)
  if (unreached !== undefined)
    return ['warn', `Callers get data at most ${maxAge} old; ${unreached.webhook} fails: ${unreached.lastError}.`]
  const mistaken = lists.flatMap(([name, { withheldByReason, newMistakesAgeMs }]) => {
    const mistakes = Object.entries(withheldByReason).filter(([reason]) => isMistake(reason))
    const count = mistakes.reduce((sum, [, rows]) => sum + rows, 0)
    const isNew = newMistakesAgeMs !== null && newMistakesAgeMs < DAY_MS
    return count > 0 ? [{ text: `${numberText(count)} ${name}`, isNew }] : []
  })
  if (mistaken.length === 0) return ['good', `All is well: callers get data at most ${maxAge} old.`]
  const what = mistaken.map(({ text }) => text).join(' and ')
  const kind = mistaken.some(({ isNew }) => isNew) ? 'warn' : 'good'
  return [kind, `Callers get data at most ${maxAge} old; ${what} are withheld for mistakes, listed below.`]
}

/** Says why lists are not answered from although no read failed. */
function ageText(silent, maxAge) {
  const ages = silent.map(([, list]) => list.confirmedAgeMs)
  if (ages.includes(null)) return 'the CRM has not been read in full yet'
  return `the last complete read began ${spanText(Math.max(...ages))} ago, and the maximum age is ${maxAge}`
}

/** Says why lists cannot be read, and until when callers get answers all the same. */
function failureText({ cluster }, lists) {
  const why = lists.map(([, list]) => list.lastError).find((message) => message !== null) ?? cluster?.lastError
  const [until] = lists.flatMap(([, list]) => list.answersUntil ?? []).toSorted()
  const cause = why === undefined || why === null ? '' : `: ${why}`
  return `The CRM cannot be read${cause}. Callers still get answers${until === undefined ? '' : `, until ${dayText(until)}`}`
}

/** Says that all events are over. Their end and both clocks show whether the list or the clock is wrong. */
function overText({ now, lists: { events } }) {
  const all = events.served === 1 ? 'The only event is over' : `All ${numberText(events.served)} events are over`
  const ended = `${all}: the last one ended on ${dayText(events.allOverSince)}`
  const isClockWrong = Math.abs(new Date(now) - new Date()) > CLOCKS_DIFFER_MS
  return isClockWrong
    ? `${ended}, by the clock of Marquee's machine, which says ${dayText(now)}. Your clock says ${dayText(new Date())}.`
    : `${ended}. Check whether the CRM or the export is still kept up to date.`
}

/** Describes why no snapshot can be written, and what a restart does meanwhile. */
export function snapshotText({ snapshot, snapshotError }) {
  const start =
    snapshot === null ? 'reads both lists in full' : `continues from the one written ${spanText(snapshot.ageMs)} ago`
  return `The snapshot cannot be written: ${snapshotError}. Until it can, a restart ${start}. Marquee tries again every 5 minutes.`
}

/** Describes why the last reload was refused. */
export function reloadText({ at, problems }) {
  return `The reload of ${dayText(at)} was refused, and the old configuration stays in effect: ${problems.join('; ')}.`
}

/** Describes a webhook: its last call, and since when and why its receiver fails. */
export function webhookText({ calledAt, failingSince, lastError, isGone }) {
  const last = calledAt === null ? 'no call since the start' : `last call on ${dayText(calledAt)}`
  if (isGone) return `${last}; its receiver wants no more: ${lastError}`
  return failingSince === null ? last : `${last}; failing since ${dayText(failingSince)}: ${lastError}`
}

/** Describes this instance's role in the cluster and who reads the CRM. */
export function clusterText({ role, instance, leader, instances, candidates, connected, lastError }) {
  const roles = {
    leader: 'It reads the CRM for all instances',
    follower: `It follows ${leader ?? 'an unknown leader'}, which reads the CRM`,
    standalone: 'It reads the CRM for itself',
    waiting: 'It waits for data in the store',
  }
  const others = candidates.filter((name) => name !== instance).join(', ')
  const inTurn = others === '' ? '' : ` Next candidates: ${others}.`
  const store = connected ? '' : ' The store does not answer.'
  const why = lastError === null ? '' : ` ${lastError}.`
  return `This is ${instance}, one of ${Math.max(1, instances)} instances. ${roles[role]}.${inTurn}${store}${why}`
}
