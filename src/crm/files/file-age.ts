import { type Failure, failureOf } from '../../sync/port.ts'

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000

/** Explains that an export has stopped: its file is older than crm.maxFileAge. `null` if it is young enough. */
export function tooOld(name: string, writtenAtMs: number, nowMs: number, maxAgeMs: number | null): Failure | null {
  if (maxAgeMs === null || nowMs - writtenAtMs <= maxAgeMs) return null
  const fact = `${name} was last written ${spelled(nowMs - writtenAtMs)} ago`
  return failureOf('unreachable', `${fact}, and crm.maxFileAge allows ${spelled(maxAgeMs)}: has the export stopped?`)
}

function spelled(ms: number): string {
  if (ms >= HOUR_MS) return `${Math.floor(ms / (HOUR_MS / 10)) / 10} h`
  return ms >= MINUTE_MS ? `${Math.floor(ms / MINUTE_MS)} min` : `${Math.floor(ms / 1000)} s`
}
