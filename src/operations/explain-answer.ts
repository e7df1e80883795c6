import type { Guid } from '../domain/guid.ts'
import { EMPTY_GUID } from '../domain/guid.ts'
import { isBefore, tickOfDateTime } from '../domain/tick.ts'
import type { MediaType } from '../formats/media-types.ts'
import { textOf } from '../formats/body.ts'
import { MEDIA_TYPES, SHAPES, shapeOf } from '../formats/media-types.ts'
import type { ListReplica } from '../replica/list-replica.ts'
import type { HeldRow } from '../replica/record-list.ts'
import { agoText } from './ago.ts'
import type { ExplainedKind, ExplainOptions, Step } from './explain.ts'

/** One of the four bodies of a record, and the media types it is sent for. */
export interface Representation {
  readonly types: readonly MediaType[]
  readonly etag: string
  readonly sizeBytes: number
  /** CRM content, cut to 64 Ki characters. */
  readonly body: string
}

interface Answered<Item> {
  readonly from: ListReplica<Item>
  readonly kind: ExplainedKind
  readonly id: Guid
  readonly row: HeldRow
  readonly options: ExplainOptions
}

interface AnswerSteps {
  readonly shown: boolean
  readonly steps: readonly Step[]
  readonly representations: readonly Representation[]
}

const LONGEST_BODY = 65_536

/** The steps of a row that is held to be served. */
export function answerSteps<Item>({ from, kind, id, row, options }: Answered<Item>): AnswerSteps {
  const { now, mayAnswer, remarkOn } = options
  const { freshness } = from.reader
  const [confirmedMs, auditedMs] = [freshness.confirmedAgeMs(now) ?? 0, freshness.auditedAgeMs(now) ?? 0]
  const remark = remarkOn(from.list.kind.name, id)
  const isCurrent = mayAnswer(from.list.kind.name)
  const representations = represent(from, id)
  const visible = kind === 'event' ? 'It is active, and marked to be shown on the web.' : 'It is active.'
  const heldMs = Math.max(0, now.monotonicMs - row.changedAt)
  const ages = `The list was confirmed ${agoText(confirmedMs)} ago, and last read in full ${agoText(auditedMs)} ago`
  const tooOld = ': too old to be answered from, so callers get 502'
  const steps: Step[] = [
    { step: 'active', ok: true, detail: visible },
    { step: 'mapped', ok: remark === null, detail: remark ?? 'Every column could be read.' },
    ...(kind === 'event' ? [venueStep(id, options)] : []),
    { step: 'held', ok: true, detail: `Marquee has held it as it is now for ${agoText(heldMs)}.` },
    { step: 'current', ok: isCurrent, detail: `${ages}${isCurrent ? '' : tooOld}.` },
    {
      step: 'answered',
      ok: isCurrent,
      detail: [answerDetail(kind, id, isCurrent, representations), ...listDetail(kind, id, options)].join(' '),
    },
  ]
  return { shown: isCurrent, steps, representations }
}

/** Whether `/api/events/{id}/venue` has an answer; where not, the event is shown all the same. */
function venueStep(id: Guid, { replica }: ExplainOptions): Step {
  const venue = replica.events.list.get(id)?.VenueId ?? EMPTY_GUID
  if (venue === EMPTY_GUID) {
    return { step: 'venue', ok: true, detail: 'No venue is assigned, so its venue is answered with 404.' }
  }
  const row = replica.venues.list.inspect(venue)
  if (row?.served === true) return { step: 'venue', ok: true, detail: `Its venue ${venue} is on the web too.` }
  const why =
    row === null ? "is not in the CRM's list of venues" : 'is not on the web: have its id explained to learn why'
  return { step: 'venue', ok: false, detail: `Its venue ${venue} ${why}. The event is shown without it.` }
}

function represent<Item>({ list }: ListReplica<Item>, id: Guid): readonly Representation[] {
  return SHAPES.flatMap((shape) => {
    const held = list.represent(id, shape)
    if (held === null) return []
    const types = MEDIA_TYPES.filter((type) => shapeOf[type] === shape)
    const sizeBytes = held.body.length
    return [{ types, etag: held.etag, sizeBytes, body: textOf(held.body).slice(0, LONGEST_BODY) }]
  })
}

/** Whether the lists have it, where they are on. */
function listDetail(kind: ExplainedKind, id: Guid, { replica, now }: ExplainOptions): readonly string[] {
  if (replica[`${kind}s`].list.index === null) return []
  const event = kind === 'event' ? replica.events.list.get(id) : null
  if (event === null) return ['It is in /api/venues.']
  const end = isBefore(tickOfDateTime(event.Start), tickOfDateTime(event.Finish)) ? event.Finish : event.Start
  const isOver = isBefore(tickOfDateTime(end), { ms: Math.floor(now.wallMs), ticks: 0 })
  return [
    isOver
      ? `It is over since ${end}: in /api/events only where \`from\` asks for it.`
      : `It is in /api/events until ${end}.`,
  ]
}

function answerDetail(
  kind: ExplainedKind,
  id: Guid,
  isCurrent: boolean,
  representations: readonly Representation[],
): string {
  const bodies = representations.map(
    ({ types, sizeBytes, etag }) => `${types.join(' and ')}: ${sizeBytes} bytes, ETag ${etag}`,
  )
  const verb = isCurrent ? 'is answered' : 'would be answered'
  return `It ${verb} at /api/${kind}s/${id} (${bodies.join('; ')}).`
}
