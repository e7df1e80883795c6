import { z } from 'zod'
import { flag } from '../values/flag.ts'

export interface LogSettings {
  /** A line for each request. */
  readonly requests: boolean
}

export const logSection: z.ZodType<LogSettings> = z
  .strictObject({
    requests: flag()
      .prefault(false)
      .describe('A line for each request: method, path, status, type, duration, and the trace id of a `traceparent`.'),
  })
  .prefault({})
  .describe('What is written to standard output: JSON lines, on a terminal sentences.')
