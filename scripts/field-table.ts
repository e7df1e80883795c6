import { EVENTS } from '../src/domain/event.ts'
import type { FieldType } from '../src/domain/field.ts'
import { VENUES } from '../src/domain/venue.ts'

/** Each type of field in the words of the page; what may be null, or stands for "not known", is said with it. */
const TYPES: Readonly<Record<FieldType, string>> = {
  guid: 'GUID',
  text: 'text, or null',
  int32: 'whole number of 32 bits',
  decimal: 'decimal number',
  'date-time': 'date-time with its offset',
  tags: 'list of texts',
}

/** The table of a record's fields, as consuming.md shows it. */
export function fieldTable(kind: string): string {
  const table = [EVENTS, VENUES].find((known) => known.kind === kind)
  if (table === undefined) throw new Error(`there is no record called ${kind}`)
  const rows = table.fields.map(
    ({ name, type, description, example }) => `| \`${name}\` | ${TYPES[type]} | ${description} | \`${example}\` |`,
  )
  return `| field | type | meaning | for example |\n|---|---|---|---|\n${rows.join('\n')}\n`
}
