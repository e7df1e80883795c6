import { type RequestWatch, traceIdOf } from '../http/call.ts'
import { Log } from '../observe/log.ts'
import type { Observe } from '../observe/observation.ts'
import { ReadHistory } from '../observe/read-history.ts'
import { ReadMeter, RequestMeter, typeLabel } from '../observe/meters.ts'
import { printable } from '../observe/printable.ts'
import type { CommandContext } from './command-context.ts'

export type Telemetry = ReturnType<typeof createTelemetry>

const LONGEST_PATH = 200

/** Turns observations into log lines, metrics and history. @param logsRequests whether each request has a log line */
export function createTelemetry(
  { out, isTerminal }: Pick<CommandContext, 'out' | 'isTerminal'>,
  logsRequests: boolean,
) {
  const log = new Log({ out, isTerminal, now: () => Date.now() })
  const requests = new RequestMeter()
  const reads = new ReadMeter(['events', 'venues'])
  const history = new ReadHistory()
  const observe: Observe = (observation) => {
    telemetry.firstAtMs = Math.min(telemetry.firstAtMs, Date.now())
    log.write(observation)
    reads.note(observation)
    history.note(observation, Date.now())
  }
  const watch: RequestWatch = (route, call, { status, fields }, durationMs) => {
    requests.count(route, status, fields.values['Content-Type'], durationMs)
    if (!telemetry.logsRequests) return
    const path = printable(call.pathname, LONGEST_PATH)
    const traceId = traceIdOf(call.header('traceparent'))
    const type = typeLabel(fields.values['Content-Type'])
    log.write({
      kind: 'request-answered',
      request: { method: call.method, route, path, status, type, durationMs, traceId },
    })
  }
  // `firstAtMs` is the time of the first observation, wall clock.
  const telemetry = { observe, watch, logsRequests, log, requests, reads, history, firstAtMs: Infinity }
  return telemetry
}
