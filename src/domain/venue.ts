import type { RecordOf, RecordTable } from './field.ts'
import type { Extended } from './further.ts'

const FIELDS = [
  { name: 'Id', type: 'guid', description: 'The id of the venue.', example: '"53b08621-ae96-444f-a44f-55d91d92cff9"' },
  { name: 'Name', type: 'text', description: 'The name of the venue.', example: '"Lantern Hall"' },
  {
    name: 'AddressStreet1',
    type: 'text',
    description: 'The first line of the address.',
    example: '"41 Chandlers Row"',
  },
  { name: 'AddressStreet2', type: 'text', description: 'The second line of the address.', example: '"Southwark"' },
  { name: 'AddressStreet3', type: 'text', description: 'The third line of the address.', example: 'null' },
  { name: 'AddressCity', type: 'text', description: 'The city or town.', example: '"London"' },
  { name: 'AddressPostalCode', type: 'text', description: 'The postal code.', example: '"SE1 9XJ"' },
  { name: 'AddressState', type: 'text', description: 'The state, province or county.', example: '"England"' },
  { name: 'AddressCountry', type: 'text', description: 'The country.', example: '"United Kingdom"' },
  { name: 'Longitude', type: 'decimal', description: 'Degrees east of Greenwich.', example: '-0.0972' },
  { name: 'Latitude', type: 'decimal', description: 'Degrees north of the equator.', example: '51.5051' },
  { name: 'Telephone', type: 'text', description: 'The telephone number.', example: '"+44 20 7946 0142"' },
  {
    name: 'Description',
    type: 'text',
    description: 'A description of the venue.',
    example:
      '"A former rope works by the river, with a sprung floor, a gallery on three sides and step-free access throughout. Doors open one hour before each event."',
  },
  {
    name: 'Website',
    type: 'text',
    description: 'The website of the venue.',
    example: '"https://lanternhall.example.org/"',
  },
] as const

export const VENUES = { list: 'venues', kind: 'venue', member: 'Venues', fields: FIELDS } as const satisfies RecordTable

/** A served venue with canonical values (contract §2). */
export type VenueRecord = RecordOf<typeof FIELDS> & Extended
