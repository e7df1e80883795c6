// Run by the test beside it on each runtime: every step of a read meets broken answers; what came of it goes out line
// by line.
import type { Time } from '../../src/time/time.ts'
import { systemTime } from '../../src/time/time.ts'
import { patienceOf } from '../../src/crm/kit/crm-limits.ts'
import { LARGE, ODD, WRONG_BODIES, WRONG_FRAMES, WRONG_LINKS } from './broken-answers.ts'
import { eventValues, fill, idOf, openEnvironment } from './environment.ts'
import type { RawAnswer } from './raw-front.ts'
import { RawFront } from './raw-front.ts'
import { rigOf } from './rig.ts'

/** What came of one answer at one step. */
export interface Met {
  readonly step: string
  readonly given: string
  readonly ms: number
  /** Null where the read succeeded. */
  readonly failure: { readonly kind: string; readonly message: string } | null
  /** How many reads it took after it until all was well, null where it never was. */
  readonly readsToRecover: number | null
  /** The sizes of pages that were asked for. */
  readonly pageSizes: readonly string[]
}

interface Step {
  readonly part: RegExp
  /** The list was read in full before. */
  readonly later?: boolean
}

const EVENTS = 7
/** Answers that never end are given up soon; for the others a busy machine may take its time. */
const SHORT_TIMEOUT_MS = 500
const TIMEOUT_MS = 5000
const AT_ONCE = 8
const MOST_READS = 20

const STEPS: Readonly<Record<string, Step>> = {
  token: { part: /oauth2/ },
  'first page': { part: /events\?\$select=[^&]*$/ },
  'further page': { part: /skiptoken/ },
  zones: { part: /timezonedefinitions/ },
  definition: { part: /EntityDefinitions\?/ },
  labels: { part: /OptionSet/ },
  changes: { part: /deltatoken/, later: true },
  'further changes': { part: /skiptoken/, later: true },
}

const cases = [
  ...casesOf(Object.keys(STEPS), { ...ODD, ...WRONG_BODIES }),
  ...casesOf(['token', 'first page', 'changes'], WRONG_FRAMES),
  ...casesOf(['first page', 'further page', 'changes', 'further changes'], WRONG_LINKS),
  ...casesOf(['token', 'definition', 'labels', 'changes', 'further changes'], LARGE),
].values()

function casesOf(
  steps: readonly string[],
  answers: Readonly<Record<string, RawAnswer>>,
): readonly (readonly [string, string, RawAnswer])[] {
  return steps.flatMap((step) => Object.entries(answers).map(([given, answer]) => [step, given, answer] as const))
}

/** Pauses are moments here; the time limits stay. */
function timeOf(timeoutMs: number): Time {
  const limits = [timeoutMs, patienceOf({ requestTimeoutMs: timeoutMs })]
  return {
    now: () => systemTime.now(),
    random: () => 0,
    after: (ms, then) => systemTime.after(limits.includes(ms) ? ms : ms / 200, then),
  }
}

async function meet(step: string, given: string, answer: RawAnswer): Promise<Met> {
  const { part, later = false } = STEPS[step] ?? { part: /^$/ }
  const front = new RawFront()
  const origin = await front.listen()
  const environment = await openEnvironment({ publicOrigin: origin })
  const { standIn, events } = environment
  front.target = standIn.port
  standIn.query.largestPage = 3
  fill(environment, EVENTS)
  events.put(idOf(EVENTS), eventValues(EVENTS, { cr5_tags: '2', msevtmgt_eventtimezonename: null }))
  const tags = { kind: 'column', column: 'cr5_tags', whenBlank: null, label: true } as const
  const settings = { origin, authority: origin, events: { from: 'msevtmgt_events', fields: { Tags: tags } } }
  const timeoutMs = given in WRONG_FRAMES ? SHORT_TIMEOUT_MS : TIMEOUT_MS
  const rig = await rigOf(standIn, { timeoutMs, time: timeOf(timeoutMs), settings })
  const { refresh, list } = rig.replica.events
  if (later) {
    await refresh.attempt()
    for (let number = 1; number <= EVENTS; number++) events.change(idOf(number), { msevtmgt_registrationcount: 20 })
  }
  front.fault = { isFor: (path) => part.test(path), answer }
  const begun = performance.now()
  const attempt = await refresh.attempt()
  const ms = Math.round(performance.now() - begun)
  front.fault = null
  const isWell = async (): Promise<boolean> => (await refresh.attempt()).ok && list.served === EVENTS
  let reads = 1
  while (reads <= MOST_READS && !(await isWell())) reads++
  await rig.crm.close()
  standIn.close()
  front.close()
  const failure = attempt.ok ? null : attempt.failure
  const asked = standIn.reads.flatMap(({ headers }) => /maxpagesize=\d+/.exec(String(headers['prefer']))?.[0] ?? [])
  const pageSizes = [...new Set(asked)]
  return { step, given, ms, failure, readsToRecover: reads > MOST_READS ? null : reads, pageSizes }
}

await Promise.all(
  Array.from({ length: AT_ONCE }, async () => {
    for (const [step, given, answer] of cases) console.log(JSON.stringify(await meet(step, given, answer)))
  }),
)
process.exit(0)
