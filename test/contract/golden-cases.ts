import type { Buffer } from 'node:buffer'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const DIRECTORY = join(import.meta.dirname, '../golden')

export type Suffix = 'json' | 'xml' | 'hal.json' | 'hal.xml'

export interface Golden {
  readonly name: string
  readonly note: string
  readonly timeZone: string
  readonly kind: 'event' | 'venue'
  readonly id: string
  /** The row's own text, because a parser would lose the digits of its numbers. */
  readonly row: string
  readonly bodies: Readonly<Record<Suffix, Buffer>>
}

/** Each media type, with the suffix of its golden file. */
export const shapeSuffix: ReadonlyMap<string, Suffix> = new Map([
  ['application/json', 'json'],
  ['text/json', 'json'],
  ['application/xml', 'xml'],
  ['text/xml', 'xml'],
  ['application/hal+json', 'hal.json'],
  ['application/hal+xml', 'hal.xml'],
])

export const GOLDEN: readonly Golden[] = readdirSync(DIRECTORY)
  .filter((file) => file.endsWith('.case.json'))
  .toSorted()
  .map((file) => readCase(file.slice(0, -'.case.json'.length)))

/** Returns the two lists of a CRM that holds only this row. */
export function listsOf({ kind, row }: Golden): { readonly events: string; readonly venues: string } {
  return kind === 'event' ? { events: `[${row}]`, venues: '[]' } : { events: '[]', venues: `[${row}]` }
}

function readCase(name: string): Golden {
  const text = readFileSync(join(DIRECTORY, `${name}.case.json`), 'utf8')
  const read = JSON.parse(text) as Pick<Golden, 'note' | 'timeZone' | 'kind'> & {
    readonly row: { readonly Id: string }
  }
  const row = text.slice(text.indexOf('"row":') + '"row":'.length, text.lastIndexOf('}'))
  const body = (suffix: Suffix): Buffer => readFileSync(join(DIRECTORY, `${name}.${suffix}`))
  const bodies = { json: body('json'), xml: body('xml'), 'hal.json': body('hal.json'), 'hal.xml': body('hal.xml') }
  return { name, note: read.note, timeZone: read.timeZone, kind: read.kind, id: read.row.Id, row, bodies }
}
