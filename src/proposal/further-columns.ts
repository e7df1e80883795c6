import type { ListName } from '../domain/field.ts'
import { parseDateTimeText } from '../domain/date-time.ts'
import { isNo } from '../domain/flag-words.ts'
import { FURTHER_NAME, takenName } from '../domain/further-names.ts'
import type { FurtherType } from '../domain/further.ts'
import { stateBegun, stateSaid } from '../domain/state-words.ts'
import { soldOutWord } from '../domain/zero-words.ts'
import { type Column, countOf, isMost } from './column.ts'
import { CANCELLED_NAMES, FURTHER_NAMES, isGoodState, named, namedExactly, STATUS_NAMES } from './field-names.ts'
import { type Line, canBeNamed, example, OPEN, quoted, sourceOf, textSource } from './line.ts'

/** A further field that a column could be. The proposal writes it as a comment: publishing is a decision. */
export interface FurtherProposal extends Line {
  readonly type: FurtherType
  /** Whether it is no comment: an event that is cancelled must not be served as one that takes place. */
  readonly isActive?: boolean
}

/**
 * Proposes a further field for each column that no field reads, and the status of events, which conditions may read.
 *
 * @param active what is proposed for `active`
 */
export function furtherColumns(
  list: ListName,
  columns: readonly Column[],
  taken: Set<Column>,
  active: Line | null = null,
): readonly FurtherProposal[] {
  const free = columns.filter((column) => column.filled > 0 && !taken.has(column) && canBeNamed(column.name))
  const status = list === 'events' ? statusOf(columns, taken, active) : null
  const lines: FurtherProposal[] = status === null ? [] : [...status.lines]
  const meant = new Map<Column, string>()
  if (list === 'events') {
    for (const [name, names] of Object.entries(FURTHER_NAMES)) {
      const column = named(free, names, new Set(meant.keys()))
      if (column !== null) meant.set(column, name)
    }
  }
  const used = new Set([...meant.values(), ...lines.map(({ key }) => key)].map((name) => name.toLowerCase()))
  for (const column of free) {
    if (column === status?.column) continue
    const key = meant.get(column) ?? freeName(list, column.name, used)
    used.add(key.toLowerCase())
    lines.push({ key, ...sourceOfFurther(key, column) })
  }
  if (status !== null && lines.some(({ isActive }) => isActive === true)) taken.add(status.column)
  return lines
}

/** In a column that marks cancelled events, `nein` means that the event takes place. */
function markOf(text: string): string {
  return isNo(text) || isGoodState(text) ? 'scheduled' : 'cancelled'
}

const MOST_STATES = 20

/** A column of states, or one that marks what is cancelled. */
function statusOf(
  columns: readonly Column[],
  taken: ReadonlySet<Column>,
  active: Line | null,
): { readonly column: Column; readonly lines: readonly FurtherProposal[] } | null {
  const filled = columns.filter(({ filled: rows, name }) => rows > 0 && canBeNamed(name))
  const remarks = filled.filter((one) => one.kind === 'text' && !taken.has(one))
  // A column of states may also say what is postponed.
  const ofStates = namedExactly(filled, STATUS_NAMES)
  const hasStates = ofStates?.texts.some(({ text }) => stateSaid(text) !== null) === true
  const marked = hasStates ? null : namedExactly(filled, CANCELLED_NAMES)
  const column = marked ?? (hasStates ? ofStates : (remarks.find(isOfStates) ?? remarks.find(saysCancelled) ?? null))
  if (column === null || column.kind !== 'text') return null
  // `Status` reads a value that begins with a word as that word.
  const states = new Map<string, string>()
  for (const { text } of column.texts) {
    const begun = marked === null ? stateBegun(text) : null
    const state = begun?.state ?? (marked !== null ? markOf(text) : isGoodState(text) ? 'scheduled' : null)
    if (state === null) continue
    const word = begun?.word ?? soldOutWord(text) ?? text.trim()
    const isKnown = [...states.keys()].some((known) => known.toLowerCase() === word.toLowerCase())
    if (!isKnown) states.set(word, state)
    if (states.size > MOST_STATES) return null
  }
  const values = [...states].flatMap(([word, state]) =>
    state === word.toLowerCase() ? [] : [`${quoted(word)}: ${state}`],
  )
  const name = quoted(column.name)
  const value = values.length === 0 ? name : `{ column: ${name}, values: { ${values.join(', ')} } }`
  const isOff = [...states.values()].some((state) => state !== 'scheduled')
  const isActive = isOff && (active?.value === 'null' || active?.value === OPEN)
  const facts = ['calendars and search engines read it']
  if (active?.value !== 'null') facts.push('to show what is cancelled, write active: null')
  if ([...states.values()].includes('postponed'))
    facts.push('if Start has the new date, write rescheduled for postponed')
  const lines: FurtherProposal[] = [{ key: 'Status', type: 'text', value, evidence: facts.join('; '), isActive }]
  const longText = column.texts.find(({ text }) => saysMore(text))
  if (longText !== undefined) {
    lines.push({
      key: 'StatusText',
      type: 'text',
      value: name,
      evidence: `calendars show it; e.g. ${longText.text.trim()}`,
    })
  }
  return { column, lines }
}

/** Whether most texts of a column begin with a state, such as remarks on events that do not take place. */
function isOfStates({ kind, texts, filled }: Column): boolean {
  return (
    kind === 'text' &&
    isMost(
      countOf(texts, (text) => stateSaid(text) !== null),
      filled,
    )
  )
}

const LONGEST_REMARK = 100

/** Whether a column of remarks says that an event is cancelled. */
function saysCancelled({ texts }: Column): boolean {
  return texts.some(({ text }) => text.length <= LONGEST_REMARK && stateSaid(text) === 'cancelled')
}

/** Whether a state is followed by more words, such as a new date. */
function saysMore(text: string): boolean {
  const begun = stateBegun(text)
  return begun !== null && /[\p{L}\p{N}]/u.test(text.trim().slice(begun.word.length))
}

const ADDRESS_START = /^(?:https?:\/\/|www\.)\S+$/i
const PICTURE = /^[^\s:]+\.(?:jpe?g|png|gif|webp|avif|svg)$/i

/** The type, source and evidence of a further field. Addresses that are not complete need a prefix. */
function sourceOfFurther(key: string, column: Column): Omit<FurtherProposal, 'key'> {
  const { texts, filled } = column
  const type = typeOf(column)
  const count = (pattern: RegExp): number => countOf(texts, (text) => pattern.test(text.trim()))
  if (key === 'Image' && isMost(count(PICTURE), filled)) {
    const question = `Where are these pictures? Write the beginning of their addresses, such as https://www.example.org/media/; ${example(column)}`
    return { type: 'url', value: sourceOf([column], `prefix: ${OPEN}`), evidence: question }
  }
  const lacksScheme = type === 'url' && count(URL_TEXT) < filled && count(ADDRESS_START) === filled
  const value = lacksScheme ? sourceOf([column], "prefix: 'https://'") : textSource(column)
  return { type, value, evidence: example(column) }
}

const INTEGER = /^[+-]?\d{1,9}$/
const DECIMAL = /^[+-]?\d+\.\d+$/
const URL_TEXT = /^https?:\/\/\S+$/i
const FLAG = /^(?:true|false|yes|no)$/i

/** The type that reads the values of a column, whatever the list says about its texts; `text` if unsure. */
function typeOf({ kind, texts, filled }: Column): FurtherType {
  const isMoment = kind === 'date-time' || kind === 'date'
  const all = (pattern: RegExp): boolean => texts.every(({ text }) => pattern.test(text.trim()))
  if (isMoment && texts.every(({ text }) => parseDateTimeText(text) !== null)) return 'date-time'
  // `check` lists the others.
  if (
    isMost(
      countOf(texts, (text) => ADDRESS_START.test(text.trim())),
      filled,
    )
  )
    return 'url'
  if (all(FLAG)) return 'flag'
  if (kind !== 'number') return 'text'
  if (all(INTEGER)) return 'integer'
  return all(DECIMAL) ? 'decimal' : 'text'
}

/** The column's name as a name of a field: its letters and digits, each word with a capital. */
function freeName(list: ListName, column: string, used: ReadonlySet<string>): string {
  const plain = column.normalize('NFD').replaceAll('ß', 'ss').replaceAll(/\p{M}/gu, '')
  const pieces = plain.replace(/^[^A-Za-z]+/, '').split(/[^A-Za-z0-9]+/)
  const base = pieces
    .map((piece) => piece.charAt(0).toUpperCase() + piece.slice(1))
    .join('')
    .slice(0, 60)
  const name = FURTHER_NAME.test(base) ? base : 'Further'
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? name : `${name}${number}`
    if (!used.has(candidate.toLowerCase()) && takenName(list, candidate) === null) return candidate
  }
}
