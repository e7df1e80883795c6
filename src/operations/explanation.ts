import type { ListName } from '../domain/field.ts'
import { type Guid, EMPTY_GUID, parseGuid } from '../domain/guid.ts'
import type { ServedList, ServedLists } from '../sync/served-list.ts'
import type { Moment } from '../time/time.ts'
import { inSlices } from '../time/waiting.ts'
import { faultWords, withheldWords } from '../faults/fault-words.ts'
import type { TextKeyFor } from '../proposal/text-keys.ts'
import type { RowFault, Withheld, WithheldRow } from '../domain/withheld.ts'
import { isBefore, tickOfDateTime } from '../domain/date-time.ts'
import { MEDIA_TYPES, shapeOf, SHAPES } from '../formats/media-types.ts'
import { textOf } from '../domain/body.ts'
import { howMany } from '../domain/printable.ts'
import type { HeldRow } from '../records/held-row.ts'
import { recordsNamed } from './record-search.ts'

/** One step from the CRM's row to the answer. `detail` is a sentence for the CRM admin. */
interface Step {
  readonly step: 'id' | 'title' | 'listed' | 'mapped' | 'active' | 'shown' | 'venue' | 'held' | 'current' | 'answered'
  readonly ok: boolean
  readonly detail: string
}

type ExplainedKind = 'event' | 'venue'

export interface Explanation {
  readonly id: string
  readonly kind: ExplainedKind | null
  /** Whether the record is on the web now. */
  readonly shown: boolean
  readonly steps: readonly Step[]
  /** The answers' bodies, if the record is on the web. */
  readonly representations: ReturnType<typeof represent>
  /** Other records with this id, since an event and a venue may share one. Absent if there are none. */
  readonly also?: readonly Explanation[]
}

export interface ExplainOptions {
  readonly lists: ServedLists
  readonly now: Moment
  readonly mayAnswer: (list: ListName) => boolean
  /** Returns until when a list past the maximum age is served; `null` if it is not past it. Absent: none is. */
  readonly bridgedUntil?: (list: ListName) => string | null
  /** Derives the possible ids from the CRM's own id, the event's first; `null` if the CRM's ids are GUIDs. */
  readonly idsOf: ((crmId: string) => readonly Guid[]) | null
  /** The leader; `null` if it is this instance or unknown. */
  readonly readBy?: string | null
  /** Returns a venue's id as the CRM writes it; `null` if that is the id itself or unknown. */
  readonly venueText?: (id: Guid) => string | null
  readonly hasLists: boolean
  /** Finds the key of `crm.texts` that would make a value readable; absent if the CRM's kind has none. */
  readonly textKeyFor?: TextKeyFor
  /** Ends a long search for which nobody waits any longer. */
  readonly signal?: AbortSignal
}

/** Explains every step from the CRM's row to the answer for one id, in terms of the CRM. */
export async function explainId(query: string, options: ExplainOptions): Promise<Explanation> {
  const guid = parseGuid(query)
  const own = options.idsOf?.(query) ?? []
  const ids = guid === null ? own : [guid, ...own]
  const { events, venues } = options.lists
  const explained = [...new Set(ids)].flatMap((id) => [
    explainIn(events, id, query, options),
    explainIn(venues, id, query, options),
  ])
  const [found, ...also] = (await Promise.all(explained)).filter((explanation) => explanation !== null)
  if (found !== undefined) return also.length === 0 ? found : { ...found, also }
  const [first] = ids
  const unlisted =
    first === undefined
      ? await explainNoId(query, options)
      : notShown(first, null, [idStep(first, query), notListed(options)])
  // A row with this very text as its id comes before records whose titles contain it.
  const isFound = first === undefined && unlisted.steps.length > 1
  if (isFound || guid !== null) return unlisted
  return (await explainName(query, options)) ?? unlisted
}

/** Explains the records whose names have all words of a title, as the dashboard's search finds them. */
async function explainName(query: string, options: ExplainOptions): Promise<Explanation | null> {
  if (query.trim() === '') return null
  const { lists, now, signal = new AbortController().signal } = options
  const { total, records } = await recordsNamed(lists, query, now, signal)
  const which = total > records.length ? `, of which the first ${records.length} are explained` : ''
  const detail = `The title ${JSON.stringify(query)} is in the names of ${howMany(total, 'record')}${which}.`
  const step: Step = { step: 'title', ok: true, detail }
  const explained = records.map(async ({ list, id, name, where, reason }) => {
    const guid = id === null ? null : parseGuid(id)
    if (guid !== null && list === 'events') return explainIn(lists.events, guid, guid, options)
    if (guid !== null) return explainIn(lists.venues, guid, guid, options)
    const fault = `The row ${JSON.stringify(name)} (${where}) ${reason}.`
    return notShown(name, list === 'events' ? 'event' : 'venue', [{ step: 'listed', ok: false, detail: fault }])
  })
  const [first, ...also] = (await Promise.all(explained)).filter((explanation) => explanation !== null)
  if (first === undefined) return null
  const found = { ...first, steps: [step, ...first.steps] }
  return also.length === 0 ? found : { ...found, also }
}

function notShown(id: string, kind: ExplainedKind | null, steps: readonly Step[]): Explanation {
  return { id, kind, shown: false, steps, representations: [] }
}

function idStep(id: Guid, query: string): Step {
  const detail = id === query ? `The id is ${id}.` : `The id ${JSON.stringify(query)} is ${id} here.`
  return { step: 'id', ok: true, detail }
}

/** The most rows listed: a million rows may have the same id or none. */
const MOST_ROWS = 20

/** Searches withheld rows whose id column holds the text, which need not be a valid id. */
async function explainNoId(query: string, options: ExplainOptions): Promise<Explanation> {
  const quoted = JSON.stringify(query)
  const detail = `${quoted} is not an id: a GUID is expected, such as 5f6c2a3e-8d0b-4c57-9e21-0a4b7d9c1e34.`
  const steps: Step[] = [{ step: 'id', ok: false, detail }]
  for (const { list } of [options.lists.events, options.lists.venues]) {
    for (const found of [quoted, query]) {
      const isIt = ({ withheld }: WithheldRow): boolean => withheld.fault === 'no-id' && withheld.found === found
      for (const { withheld } of await rowsThat(list.unidentified, isIt, options)) {
        const { reason, remedy } = withheldWords(withheld, options.textKeyFor)
        steps.push({ step: 'listed', ok: false, detail: `A row of the CRM (${withheld.where}) ${reason}. ${remedy}` })
      }
    }
  }
  return notShown(query, null, steps.slice(0, MOST_ROWS + 1))
}

/** Finds the first rows that match, in slices between which requests run. */
async function rowsThat(
  unidentified: Iterable<WithheldRow>,
  isIt: (row: WithheldRow) => boolean,
  { signal }: ExplainOptions,
): Promise<readonly WithheldRow[]> {
  const found: WithheldRow[] = []
  const rest = inSlices()
  for (const row of unidentified) {
    if (isIt(row)) found.push(row)
    if (found.length === MOST_ROWS) return found
    const pause = rest()
    if (pause !== null) await pause
    if (signal?.aborted === true) break
  }
  return found
}

function notListed({ lists, now }: ExplainOptions): Step {
  const both = [lists.events, lists.venues]
  const ages = both.map((list) => list.ageMs(now))
  const troubles = [troubleOf(lists.events), troubleOf(lists.venues)].filter((trouble) => trouble !== '')
  const known = ages.includes(null)
    ? "The CRM's lists have not been read in full yet, so nothing is known about it."
    : `It is in neither list of the CRM, as of ${agoText(Math.max(...ages.map((age) => age ?? 0)))} ago: it was deleted, was never there, or Marquee's user may not see it.`
  return { step: 'listed', ok: false, detail: [known, ...troubles].join(' ') }
}

/** Names the leader, which alone knows the values found in rows that it has read; empty if that is this instance. */
function readBy({ readBy: instance = null }: ExplainOptions): string {
  if (instance === null) return ''
  return `Instance ${instance} reads the CRM, and knows the value that was found; after a change of leader, once it has read the row itself, with its next full read at the latest.`
}

/** Says why a list cannot be read; empty if it can. */
function troubleOf<Item>({ list, lastFailure }: ServedList<Item>): string {
  if (lastFailure === null) return ''
  return `The CRM's list of ${list.kind.name} cannot be read now, so Marquee does not know what is new in it: ${lastFailure.message}.`
}

async function explainIn<Item>(
  from: ServedList<Item>,
  id: Guid,
  query: string,
  options: ExplainOptions,
): Promise<Explanation | null> {
  if (from.list.find(id) === null) return null
  const twins = await twinSteps(from.list.unidentified, id, options)
  // The row may have changed during the search.
  const row = from.list.find(id)
  if (row === null) return null
  const kind = kindOf(from)
  // A read without changes mentions no row, but confirms that the row still exists.
  const seenMs = from.ageMs(options.now) ?? Math.max(0, options.now.monotonicMs - row.seenAt)
  const listed = [
    `It is in the CRM's list of ${kind}s, as of ${agoText(seenMs)} ago.`,
    readBy(options),
    troubleOf(from),
  ]
  const steps: Step[] = [
    idStep(id, query),
    { step: 'listed', ok: true, detail: listed.filter((text) => text !== '').join(' ') },
    ...twins,
  ]
  if (row.withheld !== null) return notShown(id, kind, [...steps, ...withheldSteps(kind, row.withheld, options)])
  return explainHeld(from, id, row, steps, options)
}

function kindOf<Item>({ list }: ServedList<Item>): ExplainedKind {
  return list.kind.name === 'events' ? 'event' : 'venue'
}

/** Describes the withheld rows with the same id, since the admin may have meant one of them. */
async function twinSteps(
  unidentified: Iterable<WithheldRow>,
  id: Guid,
  options: ExplainOptions,
): Promise<readonly Step[]> {
  const twins = await rowsThat(unidentified, (row) => row.id === id, options)
  return twins.map(({ withheld: { where } }) => {
    const detail = `A second row (${where}) has the same id and is left out: remove one of the two, or give one of them another id.`
    return { step: 'listed', ok: false, detail }
  })
}

/**
 * Returns the steps of a withheld row: all up to the first that fails, then the others that fail. Conditions come
 * before values.
 */
function withheldSteps(
  kind: ExplainedKind,
  { where, name, also = [], ...first }: Withheld,
  { textKeyFor }: ExplainOptions,
): readonly Step[] {
  const row = `The ${kind} ${name === undefined ? '' : `${JSON.stringify(name)} `}(${where})`
  const failed = [first, ...also].map((fault, index): Step => {
    const { reason, remedy } = faultWords(fault, textKeyFor)
    return { step: stepAt(fault), ok: false, detail: `${index === 0 ? row : 'It'} ${reason}. ${remedy}` }
  })
  const active: Step = { step: 'active', ok: true, detail: 'It is active.' }
  const shown: Step = { step: 'shown', ok: true, detail: 'It is marked to be shown on the web.' }
  const before = { active: [], shown: [active], mapped: kind === 'event' ? [active, shown] : [active] }
  return [...before[stepAt(first)], ...failed]
}

function stepAt({ fault, column }: RowFault): 'active' | 'shown' | 'mapped' {
  if (fault === 'inactive' || column === 'Active') return 'active'
  return fault === 'not-shown' || column === 'ShowOnWeb' ? 'shown' : 'mapped'
}

const LONGEST_BODY = 65_536

function explainHeld<Item>(
  from: ServedList<Item>,
  id: Guid,
  row: HeldRow,
  before: readonly Step[],
  options: ExplainOptions,
): Explanation {
  const { now, mayAnswer, bridgedUntil } = options
  const { freshness } = from
  const kind = kindOf(from)
  const [confirmedMs, auditedMs] = [freshness.confirmedAgeMs(now) ?? 0, freshness.auditedAgeMs(now)]
  const shown = mayAnswer(from.list.kind.name)
  const representations = represent(from, id)
  const visible = kind === 'event' ? 'It is active, and marked to be shown on the web.' : 'It is active.'
  const heldMs = Math.max(0, now.monotonicMs - row.updatedAt)
  // A list of a snapshot may not have been read since the start.
  const audited =
    auditedMs === null ? 'not read in full since the start' : `last read in full ${agoText(auditedMs)} ago`
  const ages = `The list was confirmed ${agoText(confirmedMs)} ago, and ${audited}`
  const until = bridgedUntil?.(from.list.kind.name) ?? null
  const tooOld = ': too old to serve, so callers get 502'
  const bridged = until === null ? '' : `: past the maximum age, and served until ${until} all the same`
  const bodies = representations.map(
    ({ types, sizeBytes, etag }) => `${types.join(' and ')}: ${sizeBytes} bytes, ETag ${etag}`,
  )
  const answer = `It ${shown ? 'is' : 'would be'} served at /api/${kind}s/${id} (${bodies.join('; ')}).`
  const steps: readonly Step[] = [
    ...before,
    { step: 'active', ok: true, detail: visible },
    mappedStep(kind, from.list.kept.get(row)?.withheld ?? null, options),
    ...(kind === 'event' ? [venueStep(id, options)] : []),
    { step: 'held', ok: true, detail: `Marquee has held this version for ${agoText(heldMs)}.` },
    { step: 'current', ok: shown, detail: `${ages}${shown ? bridged : tooOld}.` },
    { step: 'answered', ok: shown, detail: [answer, ...listDetail(kind, id, options)].join(' ') },
  ]
  return { id, kind, shown, steps, representations }
}

function mappedStep(kind: ExplainedKind, kept: Withheld | null, { textKeyFor }: ExplainOptions): Step {
  if (kept === null) return { step: 'mapped', ok: true, detail: 'Every column could be read.' }
  const { reason, remedy } = withheldWords(kept, textKeyFor)
  const served = 'The previous record is served until Marquee believes the list.'
  return { step: 'mapped', ok: false, detail: `The ${kind} (${kept.where}) ${reason}. ${remedy} ${served}` }
}

/** Explains the answer of `/api/events/{id}/venue`. The event is on the web regardless. */
function venueStep(id: Guid, { lists, venueText = () => null }: ExplainOptions): Step {
  const venue = lists.events.list.get(id)?.VenueId ?? EMPTY_GUID
  if (venue === EMPTY_GUID) {
    return { step: 'venue', ok: true, detail: 'No venue is assigned, so its /venue answers 404.' }
  }
  const row = lists.venues.list.find(venue)
  const text = venueText(venue)
  const named = text === null || text === venue ? venue : `${JSON.stringify(text)} (${venue})`
  if (row?.isServed === true) return { step: 'venue', ok: true, detail: `Its venue ${named} is on the web too.` }
  const why = row === null ? "is not in the CRM's list of venues" : 'is not on the web: explain its id to learn why'
  return { step: 'venue', ok: false, detail: `Its venue ${named} ${why}. The event is shown without it.` }
}

/** Returns the beginnings of a record's four bodies, each with its media types. */
function represent<Item>({ list }: ServedList<Item>, id: Guid) {
  return SHAPES.flatMap((shape) => {
    const held = list.represent(id, shape)
    if (held === null) return []
    const types = MEDIA_TYPES.filter((type) => shapeOf[type] === shape)
    const sizeBytes = held.body.length
    return [{ types, etag: held.etag, sizeBytes, body: textOf(held.body).slice(0, LONGEST_BODY) }]
  })
}

/** Says whether the lists contain the record; empty if lists are off. */
function listDetail(kind: ExplainedKind, id: Guid, { lists, now, hasLists }: ExplainOptions): readonly string[] {
  if (!hasLists) return []
  const event = kind === 'event' ? lists.events.list.get(id) : null
  if (event === null) return ['It is in /api/venues.']
  const end = isBefore(tickOfDateTime(event.Start), tickOfDateTime(event.Finish)) ? event.Finish : event.Start
  const isOver = isBefore(tickOfDateTime(end), { ms: Math.floor(now.wallMs), ticks: 0 })
  return [
    isOver
      ? `It ended at ${end}, so /api/events has it only if \`from\` asks for it.`
      : `It is in /api/events until ${end}.`,
  ]
}

/** Formats a time span: `3 s`, `5 min`, `2 h`, `4 days`. */
function agoText(ms: number): string {
  const seconds = Math.round(ms / 1000)
  if (seconds < 120) return `${seconds} s`
  const minutes = Math.round(seconds / 60)
  if (minutes < 120) return `${minutes} min`
  const hours = Math.round(minutes / 60)
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} days`
}
