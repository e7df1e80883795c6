import { parseDateTimeText } from '../domain/date-time.ts'
import { type EventRecord, EVENTS } from '../domain/event.ts'
import { type Field, type ListName, type RecordOf, type RecordTable, LINKS } from '../domain/field.ts'
import { parseGuid } from '../domain/guid.ts'
import { parseDecimal } from '../domain/number.ts'
import { unreachable } from '../domain/unreachable.ts'
import { type VenueRecord, VENUES } from '../domain/venue.ts'
import { type Zone, showInstant } from '../domain/zone.ts'
import type { Formatter } from '../formats/format.ts'
import type { Shape } from '../formats/media-types.ts'
import { recordsOf } from '../formats/page-frame.ts'

/** The bodies of the sample's event and venue, as this instance would send them. */
export class Examples {
  readonly #formatter: Formatter
  readonly #event: EventRecord
  readonly #venue: VenueRecord

  constructor(formatter: Formatter, zone: Zone) {
    this.#formatter = formatter
    this.#event = recordIn(EVENTS, zone)
    this.#venue = recordIn(VENUES, zone)
  }

  record(list: ListName, shape: Shape): string {
    return list === 'events' ? this.#formatter.event(this.#event, shape) : this.#formatter.venue(this.#venue, shape)
  }

  id(list: ListName): string {
    return list === 'events' ? this.#event.Id : this.#venue.Id
  }

  page(list: ListName, shape: Shape): string {
    const { before, after } = this.#formatter.frame({ list, self: `~/${list}`, next: null, isEmpty: false }, shape)
    return `${before}${this.record(list, shape).slice(recordsOf(shape).skip)}${after}`
  }
}

/** The record that the examples of a table's fields make, each read as a CRM's value is. */
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
