import { type LogOptions, Log } from './log.ts'
import { ReadMeter, RequestMeter, typeLabel } from './meters.ts'
import type { Observe, RequestReport } from './observation.ts'
import { printable } from '../domain/printable.ts'
import { ReadHistory } from './read-history.ts'

const LONGEST_PATH = 200

/** Turns observations and answered requests into log lines, metrics and history. */
export class Telemetry {
  readonly log: Log
  readonly requests: RequestMeter = new RequestMeter()
  readonly reads: ReadMeter = new ReadMeter(['events', 'venues'])
  readonly history: ReadHistory = new ReadHistory()
  /** Whether each request has a log line. */
  logsRequests: boolean
  /** The time of the first observation, wall clock. */
  firstAtMs = Infinity
  readonly #now: () => number

  readonly observe: Observe = (observation) => {
    const nowMs = this.#now()
    this.firstAtMs = Math.min(this.firstAtMs, nowMs)
    this.log.write(observation)
    this.reads.note(observation)
    this.history.note(observation, nowMs)
  }

  constructor(options: LogOptions, logsRequests: boolean) {
    this.log = new Log(options)
    this.logsRequests = logsRequests
    this.#now = options.now
  }

  /** Writes a request's log line. `contentType` is the answer's. */
  logRequest(request: Omit<RequestReport, 'type'>, contentType: string | undefined): void {
    const path = printable(request.path, LONGEST_PATH)
    this.log.write({ kind: 'request-answered', request: { ...request, path, type: typeLabel(contentType) } })
  }
}
