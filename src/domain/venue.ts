import type { RecordOf, RecordTable } from './field.ts'

const FIELDS = [
  { name: 'Id', type: 'guid', description: 'The venue.', example: '"53b08621-ae96-444f-a44f-55d91d92cff9"' },
  { name: 'Name', type: 'text', description: 'What it is called.', example: '"Lantern Hall"' },
  { name: 'AddressStreet1', type: 'text', description: 'The street and number.', example: '"4 Quay Street"' },
  { name: 'AddressStreet2', type: 'text', description: 'A second line of the address.', example: '"Second floor"' },
  { name: 'AddressStreet3', type: 'text', description: 'A third line of the address.', example: 'null' },
  { name: 'AddressCity', type: 'text', description: 'The city or town.', example: '"Bristol"' },
  { name: 'AddressPostalCode', type: 'text', description: 'The postal code.', example: '"BS1 4DB"' },
  { name: 'AddressState', type: 'text', description: 'The state, province or county.', example: 'null' },
  { name: 'AddressCountry', type: 'text', description: 'The country.', example: '"United Kingdom"' },
  {
    name: 'Longitude',
    type: 'decimal',
    description: 'Degrees east of Greenwich; 0 where it is not known.',
    example: '-2.5972',
  },
  {
    name: 'Latitude',
    type: 'decimal',
    description: 'Degrees north of the equator; 0 where it is not known.',
    example: '51.4491',
  },
  { name: 'Telephone', type: 'text', description: 'The telephone number.', example: '"+44 117 496 0000"' },
  {
    name: 'Description',
    type: 'text',
    description: 'What there is to know of the place.',
    example: '"Step-free from the quay."',
  },
  { name: 'Website', type: 'text', description: 'Its own site.', example: '"https://lanternhall.example.org/"' },
] as const

export const VENUES = { list: 'venues', kind: 'venue', fields: FIELDS } as const satisfies RecordTable

/** A venue that may be shown, its values canonical (contract §2). */
export type VenueRecord = RecordOf<typeof FIELDS>
