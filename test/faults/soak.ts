import { join } from 'node:path'
import { Chance } from '../model/chance.ts'
import { guidOf } from '../model/records.ts'
import type { Runtime } from '../support/child.ts'
import { Child } from '../support/child.ts'
import { eventually } from '../support/eventually.ts'
import { Victim } from './victim.ts'

const RECORDS = 100_000
const REQUESTS_EACH_SECOND = 200
const MAX_AGE_MS = 30_000

/** A stretch of the soak. */
interface SoakSample {
  readonly secondsIn: number
  readonly residentMb: number
  readonly answers: number
  readonly p50Ms: number
  readonly p999Ms: number
  readonly worstMs: number
}

export interface SoakReport {
  readonly runtime: Runtime
  readonly samples: readonly SoakSample[]
  readonly answers: number
  /** Answers that were no 200, older than the maximum age, or of another record. */
  readonly wrong: number
  readonly mostResidentMb: number
  readonly p999Ms: number
  readonly exit: number | NodeJS.Signals
}

/** A list of 100,000 events of which one in a hundred changes each second, read by paced clients for so long. */
export async function soak(runtime: Runtime, seconds: number, sampleS: number): Promise<SoakReport> {
  const chance = new Chance(1)
  const victim = await Victim.start(runtime, { freshness: { maxAge: `${MAX_AGE_MS}ms` } }, { venues: '[]' })
  // In a process of its own: writing 20 MB would hold up the clients, and so spoil what they measure.
  const program = join(import.meta.dirname, 'list-writer.ts')
  const writer = new Child(process.execPath, [program, String(RECORDS), join(victim.directory.crm, 'events.ndjson')])
  const puts = new Puts(writer)
  const url = (index: number): string => `http://127.0.0.1:${victim.port}/api/events/${guidOf(index + 1)}`
  await eventually(
    async () => {
      const reply = await fetch(url(RECORDS - 1))
      await reply.arrayBuffer()
      return reply.status
    },
    (status) => status === 200,
  )

  let [wrong, answers] = [0, 0]
  const all: number[] = []
  let stretch: number[] = []
  const ask = async (dueMs: number): Promise<void> => {
    const index = chance.below(RECORDS)
    const askedMs = Date.now()
    // A timer may be early by part of a millisecond.
    const fromMs = Math.min(dueMs, performance.now())
    const { status, text } = await answerTo(url(index))
    // From when it should have been sent: a service that stands still must not slow its own clock (coordinated
    // omission).
    const ms = performance.now() - fromMs
    answers++
    stretch.push(ms)
    const [, concert, round] = /"Name":"Concert (\d+), round (\d+)"/.exec(text) ?? []
    const untilMs = puts.atMs(roundAfter(index, Number(round)))
    if (status !== 200 || concert !== String(index) || untilMs < askedMs - MAX_AGE_MS) wrong++
  }

  const started = performance.now()
  const endMs = started + seconds * 1000
  const samples: SoakSample[] = []
  const watch = async (): Promise<void> => {
    for (let round = 1; performance.now() < endMs; round++) {
      await until(Math.min(endMs, started + round * sampleS * 1000))
      if (stretch.length === 0) continue
      const sorted = stretch.toSorted((left, right) => left - right)
      for (const ms of sorted) all.push(ms)
      stretch = []
      samples.push({
        secondsIn: Math.round((performance.now() - started) / 1000),
        residentMb: victim.residentMb,
        answers: sorted.length,
        p50Ms: percentile(sorted, 0.5),
        p999Ms: percentile(sorted, 0.999),
        worstMs: sorted.at(-1) ?? 0,
      })
    }
  }
  let mostResidentMb = 0
  const peak = setInterval(() => (mostResidentMb = Math.max(mostResidentMb, victim.residentMb)), 100)
  const pace = async (): Promise<void> => {
    const asked: Promise<void>[] = []
    for (let count = 0; ; count++) {
      const dueMs = started + (count * 1000) / REQUESTS_EACH_SECOND
      if (dueMs >= endMs) break
      if (dueMs > performance.now()) await until(dueMs)
      asked.push(ask(dueMs))
      if (asked.length > 1000) await Promise.all(asked.splice(0))
    }
    await Promise.all(asked)
  }
  await Promise.all([watch(), pace()])
  clearInterval(peak)
  const p999Ms = percentile(
    all.toSorted((left, right) => left - right),
    0.999,
  )
  await writer.stop()
  return { runtime, samples, answers, wrong, mostResidentMb, p999Ms, exit: await victim.stop() }
}

/** When the writer put each of its rounds in place. */
class Puts {
  readonly #writer: Child
  readonly #moments: number[] = []
  #read = 0

  constructor(writer: Child) {
    this.#writer = writer
  }

  /** Infinite for a round that is still to come. */
  atMs(round: number): number {
    const { stdout } = this.#writer
    for (let end = stdout.indexOf('\n', this.#read); end !== -1; end = stdout.indexOf('\n', this.#read)) {
      this.#moments.push((JSON.parse(stdout.slice(this.#read, end)) as { atMs: number }).atMs)
      this.#read = end + 1
    }
    return this.#moments[round] ?? Number.POSITIVE_INFINITY
  }
}

/** A request that fails is an answer that is wrong, and no end of the soak. */
async function answerTo(url: string): Promise<{ readonly status: number; readonly text: string }> {
  try {
    const reply = await fetch(url)
    return { status: reply.status, text: await reply.text() }
  } catch (error) {
    return { status: 0, text: String(error) }
  }
}

/** The round in which a record that was changed in `round` is changed next. */
function roundAfter(index: number, round: number): number {
  return round === 0 ? ((index + 99) % 100) + 1 : round + 100
}

function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0
}

function until(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, ms - performance.now())))
}
