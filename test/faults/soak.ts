import { join } from 'node:path'
import { Chance } from '../model/chance.ts'
import { guidOf } from '../model/records.ts'
import type { Runtime } from '../support/child.ts'
import { Child } from '../support/child.ts'
import { eventually } from '../support/eventually.ts'
import { type RowChange, RowHistory } from '../support/row-history.ts'
import { Victim } from './victim.ts'

const RECORDS = 100_000
const REQUESTS_EACH_SECOND = 200

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

/**
 * A list of 100,000 events of which one in a hundred changes each second, read by paced clients for so long.
 *
 * @param maxAgeMs shorter than the soak, or no answer could be too old
 */
export async function soak(runtime: Runtime, seconds: number, sampleS: number, maxAgeMs: number): Promise<SoakReport> {
  const chance = new Chance(1)
  const victim = await Victim.start(
    runtime,
    { freshness: { maxAge: `${maxAgeMs}ms`, refreshEvery: '5s' } },
    { venues: '[]' },
  )
  // In a process of its own: writing 20 MB would hold up the clients, and so spoil what they measure.
  const program = join(import.meta.dirname, 'list-writer.ts')
  const writer = new Child(process.execPath, [program, String(RECORDS), join(victim.directory.crm, 'events.ndjson')])
  const url = (index: number): string => `http://127.0.0.1:${victim.port}/api/events/${guidOf(index + 1)}`
  await eventually(
    async () => {
      const reply = await fetch(url(RECORDS - 1))
      await reply.arrayBuffer()
      return reply.status
    },
    (status) => status === 200,
  )

  const seen: RowChange[] = []
  let wrong = 0
  let answers = 0
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
    if (status !== 200 || concert !== String(index)) wrong++
    else seen.push({ id: rowsLike(index), atMs: askedMs - maxAgeMs, value: Number(round) })
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
  const history = historyOf(writer)
  wrong += seen.filter((answer) => history.check(answer, '', 0) !== null).length
  return { runtime, samples, answers, wrong, mostResidentMb, p999Ms, exit: await victim.stop() }
}

/** The records that change in the same rounds: one in a hundred. */
function rowsLike(index: number): string {
  return String(index % 100)
}

/** What the writer says that it put in place: all records in round 0, then those of each round. */
function historyOf({ stdout }: Child): RowHistory {
  const history = new RowHistory()
  for (const line of stdout.split('\n').slice(0, -1)) {
    const { round: value, atMs } = JSON.parse(line) as { readonly round: number; readonly atMs: number }
    const rows = value === 0 ? Array.from({ length: 100 }, (_, index) => rowsLike(index)) : [rowsLike(value)]
    for (const id of rows) history.write({ id, atMs, value })
  }
  return history
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

function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0
}

function until(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, ms - performance.now())))
}
