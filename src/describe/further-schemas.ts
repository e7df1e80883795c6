import type { RecordTable } from '../domain/field.ts'
import type { FurtherField, FurtherFields, FurtherType, FurtherValue } from '../domain/further.ts'
import { type Zone, showInstant } from '../domain/zone.ts'
import { parseDateTimeText } from '../domain/date-time.ts'
import { TYPES } from './json-schemas.ts'
import { type JsonObject, WrittenJson } from './json-text.ts'

/** The schema of each type of further field, in both JSON shapes. Each may be null (contract §7). */
const FURTHER_SCHEMAS: Readonly<Record<FurtherType, JsonObject>> = {
  text: TYPES.text,
  integer: { ...TYPES.int32, type: ['integer', 'null'] },
  decimal: { type: ['number', 'null'] },
  'date-time': { ...TYPES['date-time'], type: ['string', 'null'] },
  flag: { type: ['boolean', 'null'] },
  texts: { type: ['array', 'null'], items: { type: 'string' } },
}

const EXAMPLES: Readonly<Record<FurtherType, Exclude<FurtherValue, null>>> = {
  text: 'Text of the organisation',
  integer: 12,
  decimal: '2.50',
  'date-time': '2036-05-09T18:00:00+00:00',
  flag: true,
  texts: ['One', 'Two'],
}

/** The further fields that have a meaning for calendars and search engines, if they are texts (contract §7). */
const MEANINGS: Readonly<Record<string, readonly [description: string, example: string]>> = {
  Description: ['A description of the event.', 'Songs of the sea, and of those who stayed ashore.'],
  Image: ['The address of a picture.', 'https://www.example.org/pictures/rope-and-reel.jpg'],
  Status: ['scheduled, cancelled, postponed or rescheduled; any other text means nothing.', 'scheduled'],
}

/** A further field with its example. */
interface DescribedFurther extends FurtherField {
  readonly description: string
  /** A value as JSON. */
  readonly example: string
  /** The same value in a record. */
  readonly value: FurtherValue
}

/** Describes the further fields of a list, in the order of their declaration. */
export function describedFurther(
  { list }: RecordTable,
  further: FurtherFields,
  zone: Zone,
): readonly DescribedFurther[] {
  return further[list].map(({ name, type }) => {
    const [description, text] = (list === 'events' && type === 'text' ? MEANINGS[name] : undefined) ?? []
    const value = text ?? (type === 'date-time' ? shownIn(zone) : EXAMPLES[type])
    return {
      name,
      type,
      description: `${description ?? 'A field that this organisation has added.'} Null if unknown.`,
      example: type === 'decimal' ? String(value) : JSON.stringify(value),
      value,
    }
  })
}

function shownIn(zone: Zone): string {
  const read = parseDateTimeText(String(EXAMPLES['date-time']))
  const shown = read?.kind === 'instant' ? showInstant(read.instant, zone) : null
  if (shown === null) throw new Error('the example of a date-time is not a date-time')
  return shown
}

/** Returns the schemas of the further fields of a list, by name. */
export function furtherSchemas(table: RecordTable, further: FurtherFields, zone: Zone): JsonObject {
  return Object.fromEntries(
    describedFurther(table, further, zone).map(({ name, type, description, example }) => [
      name,
      { ...FURTHER_SCHEMAS[type], description, examples: [new WrittenJson(example)] },
    ]),
  )
}
