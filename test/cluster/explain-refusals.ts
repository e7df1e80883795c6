import type { Asked } from './soak-callers.ts'

/** Why callers may be refused, by the table of failures of docs/instances.md, as the instances themselves say it. */
const TABLE: readonly (readonly [why: string, said: RegExp])[] = [
  ['it had just started, and nobody led or the store was lost', /no read has confirmed/],
  [
    'the store was lost, full or refused access, and the CRM was not read yet',
    /store|Redis is loading|LOADING|NOAUTH|WRONGPASS/i,
  ],
  [
    'it read the CRM for itself, and that took long',
    /current read has not finished|could not be read|no answer within|no response within|cursor/,
  ],
]
/** An instance notices that it refuses callers by a timer, and only after those that wait gave up. */
const SLACK_MS = 4000

interface Stop {
  readonly fromMs: number
  readonly toMs: number
  readonly why: string
}

/** Returns when and why a process refused callers, by its log; times are those of `performance`. */
function stopsIn(log: string): readonly Stop[] {
  const open = new Map<string, { readonly fromMs: number; readonly why: string }>()
  const stops: Stop[] = []
  for (const line of log.split('\n')) {
    if (!/"answers-(?:stopped|resumed)"/.test(line)) continue
    const { time, event, list, message } = JSON.parse(line) as Readonly<
      Record<'time' | 'event' | 'list' | 'message', string>
    >
    const atMs = Date.parse(time) - performance.timeOrigin
    const before = open.get(list)
    if (before !== undefined) stops.push({ ...before, toMs: atMs })
    open.delete(list)
    if (event === 'answers-stopped') open.set(list, { fromMs: atMs, why: message })
  }
  return [...stops, ...[...open.values()].map((stop) => ({ ...stop, toMs: Number.POSITIVE_INFINITY }))]
}

/** Faults during which one instance does not answer at all. */
const SILENCING = /^(?:the leader|another) is (?:killed|stopped)/
const SILENCED = 'no instance answered: one was killed or suspended'

/**
 * Explains each refusal by what the instance that sent it said at that time; one by nginx, which says so if no instance
 * answered or all refused, by what any of them said, or by a fault that silenced one. Returns how many each reason
 * explains, and a sentence for each refusal that none does.
 */
export function explainRefusals(
  asked: readonly Asked[],
  logs: ReadonlyMap<string, string>,
  faults: readonly { readonly name: string; readonly atMs: number }[],
): { readonly explained: Readonly<Record<string, number>>; readonly unexplained: readonly string[] } {
  const stops = new Map<string, readonly Stop[]>()
  for (const [name, log] of logs) {
    const port = name.replace(/.*-/, '')
    stops.set(port, [...(stops.get(port) ?? []), ...stopsIn(log)])
  }
  const explained: Record<string, number> = {}
  const unexplained: string[] = []
  const because = (why: string): void => void (explained[why] = (explained[why] ?? 0) + 1)
  for (const { status, sentMs, endMs, by } of asked) {
    if (status === 200 || status === 404) continue
    const [, port = ''] = /:?(\d+)$/.exec(by) ?? []
    const isBy = (stop: Pick<Stop, 'fromMs' | 'toMs'>): boolean =>
      sentMs <= stop.toMs + SLACK_MS && endMs >= stop.fromMs - SLACK_MS
    const isOwn = status === 502 && stops.has(port)
    const covering = (isOwn ? (stops.get(port) ?? []) : [...stops.values()].flat()).filter(isBy)
    const why = TABLE.find(([, said]) => covering.some((stop) => said.test(stop.why)))?.[0]
    const isSilenced = faults.some(
      ({ name, atMs: fromMs }, at) => SILENCING.test(name) && isBy({ fromMs, toMs: faults[at + 1]?.atMs ?? Infinity }),
    )
    if (why !== undefined) because(why)
    else if (!isOwn && isSilenced) because(SILENCED)
    else unexplained.push(`${status} by ${by} at ${Math.round(sentMs)} ms: ${covering[0]?.why ?? 'it said nothing'}`)
  }
  return { explained, unexplained }
}
