import type { Paced } from '../load/paced-load.ts'
import type { Churn, ChurnSetting } from '../measure/churn-latency.ts'
import { measureChurn } from '../measure/churn-latency.ts'
import { MEMORY_RATE, peakMemory } from '../measure/churn-memory.ts'
import { scaled } from '../measure/scale.ts'
import type { Section } from '../part.ts'
import type { Figure } from '../report/figure.ts'
import { figureOf, RUNTIME_NAMES, RUNTIMES, show } from '../report/figure.ts'
import type { LatencyRow } from '../report/latency-table.ts'
import { latencyTable } from '../report/latency-table.ts'
import { median } from '../report/statistics.ts'
import { megabytes, table } from '../report/table.ts'
import { HARDLY_ANY_BODIES } from '../servers/marquee.ts'
import type { Workshop } from '../workshop.ts'

const SETTING: ChurnSetting = scaled(
  { events: 100_000, freshness: {}, turns: 2, seconds: 20, peakSeconds: 4, settlingSeconds: 12 },
  { events: 2000, freshness: { refreshEvery: '1s' }, turns: 1, seconds: 1, peakSeconds: 1, settlingSeconds: 0 },
)
const HUGE = scaled(1_000_000, 2000)

const [MOST_TIMES_IDLE, MOST_MS] = [2, 5]
const [CEILING_MB, HUGE_CEILING_MB] = [400, 2500]

const PEAKS = [
  'peak memory, MB',
  ...[SETTING.events, HUGE].flatMap((events) => [`${events} events`, 'with ready bodies']),
]

const TEXT = `
${SETTING.events} events. A program rewrites the list each second with 1 % of the records changed. The service looks for a change every
5 s, as it does by default, and then reads the whole list. Requests are sent over 64 keep-alive connections at fixed intervals, at half the rate that the
service answered under full load, whether earlier ones have been answered or not. A latency counts from the moment at which the request was due.
"Idle" is the same load without changes. "Floor" is the same runtime answering constant bytes at that rate: the share of the runtime, of this machine and of the
client (its errors are the unknown ids, which it answers like all others). The client and the program share a core. "Client late" is the longest
delay of the client itself, which a latency may contain. Peak memory is the most that the process ever held (VmHWM) while all formats were requested at
random and the list was read repeatedly. With ${HUGE} events, and in all runs without ready bodies (\`limits.readyBodies: ${HARDLY_ANY_BODIES}\`), it covers
one full read of a list with 1 % changed, under ${MEMORY_RATE} requests/s. The goals are for memory without ready bodies.
`.trim()

/** Measures how changes affect callers and memory. */
export async function churn(workshop: Workshop): Promise<Section> {
  const measured: Churn[] = []
  for (const runtime of RUNTIMES) measured.push(await measureChurn(workshop, runtime, SETTING))
  const [bare, hugeBare, huge] = [new Map<string, number>(), new Map<string, number>(), new Map<string, number>()]
  for (const runtime of RUNTIMES) {
    bare.set(runtime, await peakMemory(workshop, runtime, SETTING.events, HARDLY_ANY_BODIES))
    hugeBare.set(runtime, await peakMemory(workshop, runtime, HUGE, HARDLY_ANY_BODIES))
    huge.set(runtime, await peakMemory(workshop, runtime, HUGE))
  }

  const memory = (figure: string, ceiling: number, bytesOf: (runtime: string) => number | undefined): Figure =>
    figureOf(figure, `≤ ${ceiling} MB`, ' MB', (runtime) => ({
      value: (bytesOf(runtime) ?? Number.NaN) / 1e6,
      ceiling,
    }))
  const peakOf = (runtime: string): number | undefined => measured.find((one) => one.runtime === runtime)?.peakBytes
  const peaks = RUNTIMES.map((runtime) => [
    RUNTIME_NAMES[runtime],
    ...[bare.get(runtime), peakOf(runtime), hugeBare.get(runtime), huge.get(runtime)].map((bytes) =>
      megabytes(bytes ?? 0),
    ),
  ])
  return {
    title: 'While the lists change',
    markdown: `${TEXT}\n\n${churnTable(measured)}\n${table(PEAKS, peaks)}`,
    figures: [
      latencyFigure(measured),
      memory(`peak memory, ${SETTING.events} events, re-reads included`, CEILING_MB, (runtime) => bare.get(runtime)),
      memory(`peak memory, ${HUGE} events, a re-read included`, HUGE_CEILING_MB, (runtime) => hugeBare.get(runtime)),
    ],
  }
}

function churnTable(measured: readonly Churn[]): string {
  const row = (of: Churn, lists: string, paced: Paced): LatencyRow => ({
    cells: [RUNTIME_NAMES[of.runtime], lists, String(of.rate)],
    paced,
  })
  const rows = measured.flatMap((of) => [
    row(of, 'floor', of.floor),
    ...of.idle.flatMap((idle, turn) => {
      const changing = of.changing[turn]
      return [row(of, 'idle', idle), ...(changing === undefined ? [] : [row(of, 'changing', changing)])]
    }),
  ])
  return latencyTable(['runtime', 'lists', 'requests/s'], rows)
}

function latencyFigure(measured: readonly Churn[]): Figure {
  const figure = 'p99.9 at half the peak load while 1 % of the records change each second'
  const of = (runtime: string): { text: string; isMet: boolean } | null => {
    const one = measured.find((candidate) => candidate.runtime === runtime)
    if (one === undefined) return null
    const [idleMs, changingMs] = [one.idle, one.changing].map((turns) => median(turns.map(({ p999Ms }) => p999Ms)))
    if (idleMs === undefined || changingMs === undefined) return null
    const timesIdle = changingMs / idleMs
    const isMet = timesIdle <= MOST_TIMES_IDLE && changingMs <= MOST_MS
    return { text: `${show(changingMs)} ms, ${show(timesIdle)}× idle`, isMet }
  }
  return {
    figure,
    goal: `≤ ${MOST_TIMES_IDLE}× idle and ≤ ${MOST_MS} ms`,
    measured: { bun: of('bun'), node: of('node') },
  }
}
