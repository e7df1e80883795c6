import type { Decimal } from './decimal.ts'
import type { Field } from './field.ts'
import type { Guid } from './guid.ts'
import type { Link } from './link.ts'

/** A venue that may be shown, its values canonical (contract §2). */
export interface VenueRecord {
  readonly Id: Guid
  readonly Name: string | null
  readonly AddressStreet1: string | null
  readonly AddressStreet2: string | null
  readonly AddressStreet3: string | null
  readonly AddressCity: string | null
  readonly AddressPostalCode: string | null
  readonly AddressState: string | null
  readonly AddressCountry: string | null
  readonly Longitude: Decimal
  readonly Latitude: Decimal
  readonly Telephone: string | null
  readonly Description: string | null
  readonly Website: string | null
  /** Only those the CRM's row carries (contract §2.1). */
  readonly Links: readonly Link[]
}

export type VenueField = Exclude<keyof VenueRecord, 'Links'>

/** The fields of a venue in declaration order (contract §2). */
export const VENUE_FIELDS: readonly Field<VenueField>[] = [
  { name: 'Id', type: 'guid' },
  { name: 'Name', type: 'text' },
  { name: 'AddressStreet1', type: 'text' },
  { name: 'AddressStreet2', type: 'text' },
  { name: 'AddressStreet3', type: 'text' },
  { name: 'AddressCity', type: 'text' },
  { name: 'AddressPostalCode', type: 'text' },
  { name: 'AddressState', type: 'text' },
  { name: 'AddressCountry', type: 'text' },
  { name: 'Longitude', type: 'decimal' },
  { name: 'Latitude', type: 'decimal' },
  { name: 'Telephone', type: 'text' },
  { name: 'Description', type: 'text' },
  { name: 'Website', type: 'text' },
]
