// Records and their field values in canonical text (contract §2). This room imports no other.
// In: texts as the CRM has them. Out: a `Guid`, `Decimal`, `DateTime` and so on; `null` for a text that is not one. The
// parsers never guess. The tables here and in venue.ts are the only list of the fields.
import type { RecordOf, RecordTable } from './field.ts'
import type { Extended } from './further.ts'

/**
 * TicketCapacity and TicketsAvailable of an event without a limit: the largest number of their type. Callers that only ask
 * whether tickets are left need not know it.
 */
export const NO_LIMIT = 2_147_483_647

// The examples come from the sample data; this event takes place at the venue of the other table.
const FIELDS = [
  { name: 'Id', type: 'guid', description: 'The id of the event.', example: '"7e016ac6-5cee-4fd6-be12-faa34a6761ef"' },
  {
    name: 'Name',
    type: 'text',
    description: 'The name of the event.',
    example: '"Rope & Reel: an evening of sea songs"',
  },
  {
    name: 'VenueId',
    type: 'guid',
    description: 'The id of the venue; all zeros while no venue is assigned.',
    example: '"53b08621-ae96-444f-a44f-55d91d92cff9"',
  },
  {
    name: 'TicketCapacity',
    type: 'int32',
    description: `The total number of tickets; ${NO_LIMIT} if there is no limit.`,
    example: '320',
  },
  {
    name: 'TicketsAvailable',
    type: 'int32',
    description: `The number of tickets still available; ${NO_LIMIT} if there is no limit.`,
    example: '58',
  },
  { name: 'Start', type: 'date-time', description: 'The start of the event.', example: '"2036-05-09T18:30:00+00:00"' },
  { name: 'Finish', type: 'date-time', description: 'The end of the event.', example: '"2036-05-09T21:15:00+00:00"' },
  {
    name: 'Price',
    type: 'decimal',
    description: 'The price of a ticket, with the digits that the CRM sent.',
    example: '18.50',
  },
  { name: 'Tags', type: 'tags', description: 'The tags of the event.', example: '["Folk","Music","Family"]' },
] as const

export const EVENTS = { list: 'events', kind: 'event', member: 'Events', fields: FIELDS } as const satisfies RecordTable

/** A served event with canonical values (contract §2). `VenueId` is the empty GUID if no venue is assigned yet. */
export type EventRecord = RecordOf<typeof FIELDS> & Extended
