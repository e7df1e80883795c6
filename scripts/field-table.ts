import { EVENTS } from '../src/domain/event.ts'
import type { FieldType } from '../src/domain/field.ts'
import { VENUES } from '../src/domain/venue.ts'

/** How the page describes each type of field. */
const TYPES: Readonly<Record<FieldType, string>> = {
  guid: 'GUID',
  text: 'text, or null',
  int32: 'whole number of 32 bits',
  decimal: 'decimal number',
  'date-time': 'date-time with its offset',
  tags: 'list of texts',
}

/** Generates the table of a record's fields in consuming.md. */
export function fieldTable(kind: string): string {
  const table = [EVENTS, VENUES].find((known) => known.kind === kind)
  if (table === undefined) throw new Error(`there is no record called ${kind}`)
  const rows = table.fields.map(
    ({ name, type, description, example }) => `| \`${name}\` | ${TYPES[type]} | ${description} | \`${example}\` |`,
  )
  return `| field | type | meaning | for example |\n|---|---|---|---|\n${rows.join('\n')}\n`
}
