import type { ListName } from '../domain/field.ts'
import { FURTHER_NAME, takenName } from '../domain/further-names.ts'
import type { FurtherType } from '../domain/further.ts'
import { type Column, fitsAs } from './column.ts'
import { bareName, CANCELLED_NAMES, GOOD_STATES, named, namedExactly, NO_WORDS, STATUS_NAMES } from './field-names.ts'
import { type Line, canBeNamed, example, quoted } from './line.ts'

/** A further field that a column could be. The proposal writes it as a comment: publishing is a decision. */
export interface FurtherProposal extends Line {
  readonly type: FurtherType
}

/** Names of columns for the fields that feeds read, as `bareName` writes them. */
const MEANINGS = {
  Description: words(
    'description beschreibung kurztext text info inhalt teaser blurb synopsis summary excerpt descripcion sinopsis resumen beschrijving omschrijving descrizione sinossi resume',
  ),
  Image: words(
    'image bild picture photo foto imageurl bildurl poster plakat imagen cartel afbeelding immagine locandina visuel affiche',
  ),
} as const

/** Words for the states of an event, and what `Status` calls them. */
const STATES: Readonly<Record<string, readonly string[]>> = {
  cancelled: words(
    'cancelled canceled storniert abgesagt entfallt entfallen annule annulee cancelado cancelada anulado geannuleerd afgelast annullato annullata cancellato',
  ),
  postponed: words('postponed verschoben verlegt reporte reportee aplazado aplazada uitgesteld rinviato rinviata'),
  rescheduled: words('rescheduled'),
}

/**
 * Proposes a further field for each column that no field reads, and the status of events, which conditions may read.
 */
export function furtherColumns(
  list: ListName,
  columns: readonly Column[],
  taken: ReadonlySet<Column>,
): readonly FurtherProposal[] {
  const free = columns.filter((column) => column.filled > 0 && !taken.has(column) && canBeNamed(column.name))
  const status = list === 'events' ? statusOf(columns) : null
  const used = new Set<string>(status === null ? [] : ['status'])
  const lines: FurtherProposal[] = status === null ? [] : [status.line]
  const meant = new Map<Column, string>()
  if (list === 'events') {
    for (const [name, names] of Object.entries(MEANINGS)) {
      const others = new Set(meant.keys())
      const column = named(free, names, others) ?? (name === 'Image' ? free.find(holdsPictures) : null) ?? null
      if (column === null || others.has(column)) continue
      meant.set(column, name)
      used.add(name.toLowerCase())
    }
  }
  for (const column of free) {
    if (column === status?.column) continue
    const name = meant.get(column) ?? freeName(list, column.name, used)
    used.add(name.toLowerCase())
    const isHtml = column.texts.some(({ text }) =>
      /<(?:p|br|div|b|i|strong|em|ul|ol|li|a|span|h\d)\b[^<]*>/i.test(text),
    )
    const value = isHtml ? `{ column: ${quoted(column.name)}, html: true }` : quoted(column.name)
    lines.push({ key: name, type: isHtml ? 'text' : typeOf(column), value, evidence: example(column) })
  }
  return lines
}

/** Returns true if every text is the address of a picture, whatever the column is called. */
function holdsPictures({ texts }: Column): boolean {
  return texts.length > 0 && texts.every(({ text }) => /^https?:\/\/\S+\.(?:jpe?g|png|webp|gif|avif|svg)$/i.test(text))
}

/**
 * The state that a value means in a column that marks cancelled events: `nein` there means that the event takes place.
 */
function markOf(text: string): 'cancelled' | 'scheduled' {
  return isOneOf(text, [...NO_WORDS]) || isOneOf(text, [...GOOD_STATES]) ? 'scheduled' : 'cancelled'
}

function stateOf(text: string): string | undefined {
  return Object.keys(STATES).find((name) => isOneOf(text, STATES[name]))
}

function isOneOf(text: string, among: readonly string[] = []): boolean {
  return among.includes(text.trim().toLowerCase()) || among.includes(bareName(text))
}

/** A column of states, or one that marks what is cancelled. */
function statusOf(columns: readonly Column[]): { readonly column: Column; readonly line: FurtherProposal } | null {
  const filled = columns.filter(({ filled: rows, name }) => rows > 0 && canBeNamed(name))
  // A column of states may also say what is postponed.
  const states = namedExactly(filled, STATUS_NAMES)
  const marked =
    states?.texts.some(({ text }) => stateOf(text) !== undefined) === true
      ? null
      : namedExactly(filled, CANCELLED_NAMES)
  const column = marked ?? states
  if (column === null || column.kind !== 'text' || column.distinct > 20) return null
  const values = column.texts.flatMap(({ text }) => {
    const state = marked === null ? stateOf(text) : markOf(text)
    return state === undefined || state === text.trim().toLowerCase() ? [] : [`${quoted(text)}: ${state}`]
  })
  const value =
    values.length === 0 ? quoted(column.name) : `{ column: ${quoted(column.name)}, values: { ${values.join(', ')} } }`
  const evidence = 'calendars and search engines read it; to show what is cancelled, write active: null'
  return { column, line: { key: 'Status', type: 'text', value, evidence } }
}

const INTEGER = /^[+-]?\d{1,9}$/
const DECIMAL = /^[+-]?\d+\.\d+$/
const FLAG = /^(?:true|false|yes|no)$/i

/** The type that reads all values of a column, whatever the list says about its texts; `text` if unsure. */
function typeOf(column: Column): FurtherType {
  const { kind, formats, fit, filled, texts } = column
  if (kind === 'date-time' && formats.length === 0 && fit === filled) return 'date-time'
  const all = (pattern: RegExp): boolean =>
    column.others === 0 && texts.length > 0 && texts.every(({ text }) => pattern.test(text.trim()))
  if (all(FLAG)) return 'flag'
  if (kind !== 'number' || !texts.every(({ text }) => fitsAs(column)(text))) return 'text'
  if (all(INTEGER)) return 'integer'
  return all(DECIMAL) ? 'decimal' : 'text'
}

/** The column's name as a name of a field: its letters and digits, each word with a capital. */
function freeName(list: ListName, column: string, used: ReadonlySet<string>): string {
  const plain = column.normalize('NFD').replaceAll('ß', 'ss').replaceAll(/\p{M}/gu, '')
  const pieces = plain.split(/[^A-Za-z0-9]+/).map((piece) => piece.charAt(0).toUpperCase() + piece.slice(1))
  const joined = pieces.join('').replace(/^\d+/, '').slice(0, 60)
  const base = joined.charAt(0).toUpperCase() + joined.slice(1)
  const name = FURTHER_NAME.test(base) ? base : 'Further'
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? name : `${name}${number}`
    if (!used.has(candidate.toLowerCase()) && takenName(list, candidate) === null) return candidate
  }
}

function words(list: string): readonly string[] {
  return list.split(' ')
}
