import { parseDateTimeText } from '../domain/date-time.ts'
import { EVENTS } from '../domain/event.ts'
import { type Field, type ListName, type RecordOf, type RecordTable, LINKS } from '../domain/field.ts'
import type { Extended } from '../domain/further.ts'
import { parseGuid } from '../domain/guid.ts'
import { parseDecimal } from '../domain/number.ts'
import { unreachable } from '../domain/unreachable.ts'
import { VENUES } from '../domain/venue.ts'
import { type Zone, showInstant } from '../domain/zone.ts'
import type { Formatter } from '../formats/format.ts'
import type { Shape } from '../formats/media-types.ts'
import { describedFurther } from './further-schemas.ts'

export type Examples = ReturnType<typeof examplesOf>

/** Returns the sample's event and venue as this instance would send them. */
export function examplesOf(formatter: Formatter, zone: Zone) {
  const further = (table: RecordTable): Extended => {
    const values = describedFurther(table, formatter.further, zone).map(({ value }) => value)
    return values.length === 0 ? {} : { Further: values }
  }
  const event = { ...recordIn(EVENTS, zone), ...further(EVENTS) }
  const venue = { ...recordIn(VENUES, zone), ...further(VENUES) }
  const record = (list: ListName, shape: Shape): string =>
    list === 'events' ? formatter.event(event, shape) : formatter.venue(venue, shape)
  return {
    event,
    venue,
    record,
    id: (list: ListName): string => (list === 'events' ? event.Id : venue.Id),
    page(list: ListName, shape: Shape): string {
      const { before, after } = formatter.frame(
        { list, self: `~/${list}`, next: null, isEmpty: false, venues: null },
        shape,
      )
      return `${before}${record(list, shape).slice(formatter.recordFrame(shape).skip)}${after}`
    },
  }
}

/** Returns the record of a table's examples, each parsed like a value of a CRM. */
function recordIn<Fields extends readonly Field[]>({ fields }: RecordTable<Fields>, zone: Zone): RecordOf<Fields> {
  const values = fields.map((field) => [field.name, valueOf(field, zone)] as const)
  const record: unknown = Object.fromEntries([...values, [LINKS.name, []]])
  // oxlint-disable-next-line typescript/consistent-type-assertions, typescript/no-unsafe-type-assertion -- each field has got a value of its type
  return record as RecordOf<Fields>
}

function valueOf({ name, type, example }: Field, zone: Zone): unknown {
  const value: unknown = JSON.parse(example)
  switch (type) {
    case 'guid':
      return known(name, parseGuid(String(value)))
    case 'decimal':
      return known(name, parseDecimal(example))
    case 'date-time': {
      const read = parseDateTimeText(String(value))
      return known(name, read?.kind === 'instant' ? showInstant(read.instant, zone) : null)
    }
    case 'text':
    case 'int32':
    case 'tags':
      return value
    default:
      return unreachable(type)
  }
}

function known<Value>(name: string, value: Value | null): Value {
  if (value === null) throw new Error(`the example of ${name} is not a value of its type`)
  return value
}
