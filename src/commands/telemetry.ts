import { type RequestWatch, traceIdOf } from '../http/call.ts'
import { Log } from '../observe/log.ts'
import type { Observe } from '../observe/observation.ts'
import { ReadHistory } from '../observe/read-history.ts'
import { ReadMeter, RequestMeter, typeLabel } from '../observe/meters.ts'
import { printable } from '../observe/printable.ts'
import type { Surroundings } from './surroundings.ts'

/** What becomes of the observations of a running Marquee. */
export interface Telemetry {
  readonly observe: Observe
  readonly watch: RequestWatch
  /** Whether each request has a line; a reload changes it. */
  logsRequests: boolean
  readonly log: Log
  readonly requests: RequestMeter
  readonly reads: ReadMeter
  readonly history: ReadHistory
}

const LONGEST_PATH = 200

/** `logsRequests`: each request has a line. */
export function createTelemetry(
  { out, isTerminal }: Pick<Surroundings, 'out' | 'isTerminal'>,
  logsRequests: boolean,
): Telemetry {
  const log = new Log({ out, isTerminal, now: () => Date.now() })
  const requests = new RequestMeter()
  const reads = new ReadMeter(['events', 'venues'])
  const history = new ReadHistory()
  const observe: Observe = (observation) => {
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
  const telemetry: Telemetry = { observe, watch, logsRequests, log, requests, reads, history }
  return telemetry
}
