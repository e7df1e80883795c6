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

/**
 * Explains each refusal by what the instance that sent it said at that time. Returns how many each reason explains, and
 * a sentence for each refusal that none does.
 */
export function explainRefusals(
  asked: readonly Asked[],
  logs: ReadonlyMap<string, string>,
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
    const covering = (stops.get(port) ?? []).find(
      ({ fromMs, toMs }) => sentMs <= toMs + SLACK_MS && endMs >= fromMs - SLACK_MS,
    )
    const why = TABLE.find(([, said]) => covering !== undefined && said.test(covering.why))?.[0]
    if (status !== 502 || !stops.has(port)) because('no instance answered: it was killed or suspended')
    else if (why !== undefined) because(why)
    else unexplained.push(`${status} by ${by} at ${Math.round(sentMs)} ms: ${covering?.why ?? 'it said nothing'}`)
  }
  return { explained, unexplained }
}
