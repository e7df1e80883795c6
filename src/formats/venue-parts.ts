import type { Decimal } from '../domain/number.ts'
import type { VenueRecord } from '../domain/venue.ts'
import { trimWhiteSpace } from '../domain/white-space.ts'

/** Returns true if a text is neither `null` nor blank. */
export function saysSomething(text: string | null): text is string {
  if (text === null) return false
  const first = text.charCodeAt(0)
  return (first > 0x20 && first < 0x7f) || trimWhiteSpace(text) !== ''
}

/** Returns a venue's name and the parts of its address that are not blank, in the order of the record. */
export function partsOf(venue: VenueRecord): readonly string[] {
  const { AddressCity, AddressPostalCode, AddressState, AddressCountry } = venue
  const parts = [venue.Name, ...streetOf(venue), AddressCity, AddressPostalCode, AddressState, AddressCountry]
  return parts.filter(saysSomething)
}

/** Returns the lines of a venue's street that are not blank. */
export function streetOf({ AddressStreet1, AddressStreet2, AddressStreet3 }: VenueRecord): readonly string[] {
  return [AddressStreet1, AddressStreet2, AddressStreet3].filter(saysSomething)
}

export function isZero(decimal: Decimal): boolean {
  return !/[1-9]/.test(decimal)
}

/** Returns true if a venue's coordinates are known: a CRM without coordinates sends 0. */
export function hasCoordinates({ Latitude, Longitude }: VenueRecord): boolean {
  return !isZero(Latitude) || !isZero(Longitude)
}
