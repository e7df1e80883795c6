import type { z } from 'zod'
import type { Zone } from '../../domain/zone.ts'
import { openZone } from '../../domain/zone.ts'
import { nearestName } from '../nearest-name.ts'
import { leaf, Refusal } from './leaf.ts'

const ALLOWED = 'an IANA time zone such as UTC or Europe/London'

export function timeZone(): z.ZodType<Zone> {
  return leaf(ALLOWED, ({ value, reference }) => {
    if (typeof value !== 'string') return null
    const zone = openZone(value.trim())
    if (zone !== null) return zone
    // What came by reference is not shown, and so no name like it either.
    const near = reference === null ? nearestName(value, Intl.supportedValuesOf('timeZone')) : null
    return near === null ? null : new Refusal(`must be ${ALLOWED}; did you mean ${near}?`)
  })
}
