import type { Time } from '../time/time.ts'
import { sleep } from '../time/waiting.ts'
import type { Difference } from './difference.ts'
import { type Judgement, judge, worstOf } from './judge.ts'
import type { Question } from './questions.ts'
import { type AskService, type Reply, isUsable } from './remote-service.ts'
import type { ComparedAnswer } from './tally.ts'

export interface ComparisonOptions {
  readonly questions: Iterable<Question>
  readonly askOld: AskService
  readonly askNew: AskService
  readonly time: Time
  readonly signal: AbortSignal
  readonly onOutcome: (outcome: ComparedAnswer) => void
  /** Called with each pair of answers. */
  readonly onReplies?: (old: Reply, fresh: Reply) => void
}

/** How a comparison ended: `stopped` by the signal; `unusable` if the old service gave no usable answers. */
export type ComparisonEnd =
  | { readonly kind: 'complete' | 'stopped' }
  | { readonly kind: 'unusable'; readonly last: string }

interface Round {
  readonly old: Reply
  readonly fresh: Reply
  readonly judgement: Judgement
}

/** A question that got two different answers. It is repeated after Marquee's next read of the CRM. */
interface Doubt {
  readonly question: Question
  readonly rounds: readonly Round[]
  readonly dueMs: number
}

const CONNECTIONS = 2
const MOST_ROUNDS = 3
const MOST_DOUBTS = 500
const MOST_UNUSABLE = 20
/** The maximum age of a Marquee that did not say it, and the longest that is waited for. */
const USUAL_AGE_MS = 30_000
const LONGEST_AGE_MS = 120_000

/**
 * Asks both services each question, two at a time. If the answers differ, both are asked again, up to three times: only
 * what stays different counts. Ends early after 20 answers in a row that cannot be used.
 */
export async function compareServices(options: ComparisonOptions): Promise<ComparisonEnd> {
  const { askOld, askNew, time, signal, onOutcome, onReplies = () => {} } = options
  const left = options.questions[Symbol.iterator]()
  const doubts: Doubt[] = []
  const ending = new AbortController()
  const stop = AbortSignal.any([signal, ending.signal])
  let running = 0
  let unusable = 0
  let last = ''
  let ageMs = USUAL_AGE_MS

  async function ask(question: Question, rounds: readonly Round[]): Promise<void> {
    const old = await askOld(question, stop)
    const fresh = await askNew(question, stop)
    if (stop.aborted) return
    onReplies(old, fresh)
    ageMs = maximumAgeMs(fresh) ?? ageMs
    unusable = isUsable(old) ? 0 : unusable + 1
    const round = { old, fresh, judgement: judge(question, old, fresh) }
    const outcome = outcomeOf(question, [...rounds, round])
    if (outcome === null) doubts.push({ question, rounds: [...rounds, round], dueMs: time.now().monotonicMs + ageMs })
    else onOutcome(outcome)
    if (unusable < MOST_UNUSABLE) return
    last = old.status === 0 ? (old.problem ?? 'no answer') : `the last one was ${old.status}`
    ending.abort()
  }

  /** Returns what to ask next; a number of ms to wait for it; `null` if there is nothing more. */
  function next(): (() => Promise<void>) | number | null {
    const [doubt] = doubts
    const waitMs = doubt === undefined ? Infinity : doubt.dueMs - time.now().monotonicMs
    if (doubt !== undefined && waitMs <= 0) {
      doubts.shift()
      return () => ask(doubt.question, doubt.rounds)
    }
    const taken = doubts.length < MOST_DOUBTS ? left.next() : null
    if (taken !== null && taken.done !== true) return () => ask(taken.value, [])
    if (doubt !== undefined) return waitMs
    // The other connection may find something to ask again.
    return running > 0 ? IDLE_MS : null
  }

  async function work(): Promise<void> {
    while (!stop.aborted) {
      const step = next()
      if (step === null) return
      if (typeof step === 'number') {
        await sleep(step, time, stop)
        continue
      }
      running++
      await step()
      running--
    }
  }

  await Promise.all(Array.from({ length: CONNECTIONS }, work))
  if (ending.signal.aborted) return { kind: 'unusable', last }
  return { kind: signal.aborted ? 'stopped' : 'complete' }
}

const IDLE_MS = 20

/** The maximum age that a Marquee says: what `Cache-Control` leaves of it, and `Age`. `null` if it does not say it. */
function maximumAgeMs({ status, headers }: Reply): number | null {
  const leftS = /max-age=(\d+)/.exec(headers['cache-control'] ?? '')?.[1]
  const ageS = headers['age']
  if (status !== 200 || leftS === undefined || ageS === undefined) return null
  return Math.min((Number(leftS) + Number(ageS)) * 1000, LONGEST_AGE_MS)
}

/** Decides what the answers to a question mean so far; `null` if it must be asked again. */
function outcomeOf(question: Question, rounds: readonly Round[]): ComparedAnswer | null {
  const [first, judgement] = [rounds[0]?.judgement, rounds.at(-1)?.judgement]
  if (first === undefined || judgement === undefined) return null
  const isDifferent = judgement.class === 'different'
  if (rounds.length === 1) return isDifferent ? null : { question, ...judgement }
  const source = isDifferent ? judgement : first
  const changes = changesWithin(question, rounds)
  const isLasting = (finding: Difference): boolean =>
    !changes.has(finding.at) && rounds.every((round) => differing(round.judgement).has(keyOf(finding)))
  const findings = source.findings.map((finding): Difference => {
    return finding.class === 'different' && !isLasting(finding) ? { ...finding, class: 'changing' } : finding
  })
  const kind = worstOf(findings)
  // The last change may just have happened: ask once more.
  if (kind === 'changing' && isDifferent && rounds.length < MOST_ROUNDS) return null
  const classes = new Map(findings.map((finding) => [keyOf(finding), finding.class]))
  const rows = source.rows.map((row) => ({ ...row, class: classes.get(`${row.what} ${row.at}`) ?? row.class }))
  return { question, class: kind, findings, rows }
}

/** Returns the paths at which either service differs from its own answer before. */
function changesWithin(question: Question, rounds: readonly Round[]): ReadonlySet<string> {
  const found = rounds.slice(1).flatMap((round, index) => {
    const before = rounds[index] ?? round
    const pairs = [judge(question, before.old, round.old), judge(question, before.fresh, round.fresh)]
    return pairs.flatMap(({ findings }) => findings.filter(({ class: kind }) => kind !== 'sameMeaning'))
  })
  return new Set(found.map(({ at }) => at))
}

function differing({ findings }: Judgement): ReadonlySet<string> {
  return new Set(findings.filter(({ class: kind }) => kind === 'different').map(keyOf))
}

function keyOf({ what, at }: Difference): string {
  return `${what} ${at}`
}
