import { z } from 'zod'
import type { Zone } from '../domain/zone.ts'
import type { Freshness } from './sections/freshness.ts'
import { freshnessSection } from './sections/freshness.ts'
import type { Limits } from './sections/limits.ts'
import { limitsSection } from './sections/limits.ts'
import type { Listen } from './sections/listen.ts'
import { listenSection } from './sections/listen.ts'
import type { LogSettings } from './sections/log.ts'
import { logSection } from './sections/log.ts'
import type { Operations } from './sections/operations.ts'
import { operationsSection } from './sections/operations.ts'
import type { Representation } from './sections/representation.ts'
import { representationSection } from './sections/representation.ts'
import { flag } from './values/flag.ts'
import { timeZone } from './values/time-zone.ts'

/** Everything but the CRM; all of it has defaults. */
export interface General {
  readonly listen: Listen
  /** Null where it is switched off. */
  readonly operations: Operations | null
  /** What Start and Finish are shown in. */
  readonly timeZone: Zone
  readonly freshness: Freshness
  readonly representation: Representation
  readonly conditionalRequests: boolean
  readonly limits: Limits
  readonly log: LogSettings
}

export type ShapeOf<Settings> = { [Key in keyof Settings]: z.ZodType<Settings[Key]> }

export const generalSchema: z.ZodObject<ShapeOf<General>, z.core.$strict> = z.strictObject({
  listen: listenSection,
  operations: operationsSection,
  timeZone: timeZone().prefault('UTC').describe('What Start and Finish are shown in.'),
  freshness: freshnessSection,
  representation: representationSection,
  conditionalRequests: flag()
    .prefault(false)
    .describe('Whether `If-None-Match` is answered with 304 as RFC 9110 says; off ignores it.'),
  limits: limitsSection,
  log: logSection,
})
