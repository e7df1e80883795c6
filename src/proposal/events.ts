import type { ListName } from '../domain/field.ts'
import { isNo, isYes } from '../domain/flag-words.ts'
import { howMany } from '../domain/printable.ts'
import { isDayName } from '../domain/day-names.ts'
import { stateSaid } from '../domain/state-words.ts'
import { isFree, isSoldOut, soldOutSaid, soldOutWord } from '../domain/zero-words.ts'
import { type Column, countOf, isMost } from './column.ts'
import { activeOf, showOnWebOf } from './condition-columns.ts'
import {
  EVENT_NAMES,
  isGoodState,
  isNamed,
  named,
  namedAnywhere,
  namedExactly,
  SOLD_OUT_NAMES,
  STATUS_NAMES,
  TICKET_NAMES,
  WEAK_TAGS,
} from './field-names.ts'
import { type FurtherProposal, furtherColumns } from './further-columns.ts'
import { type VenueLink, idField, idLine, joinedId, venueIdOf } from './id-columns.ts'
import { type Line, byName, counted, example, lineOf, OPEN, quoted, sourceOf, textSource } from './line.ts'
import { datesOf } from './moments.ts'
import type { Table } from './table.ts'
import { textLines } from './text-keys.ts'
import { currenciesIn, hasSurePrice, isNumber, isPriceText, pricesIn, saysFrom } from './written-numbers.ts'

/** What is proposed for a list. */
export interface ListProposal {
  readonly list: ListName
  readonly table: Table
  /** Why it is doubtful that this table is the list; `null` if it is not. */
  readonly doubt: string | null
  /** Whether a namespace makes the ids. */
  readonly needsNamespace: boolean
  readonly fields: readonly Line[]
  readonly more: readonly Line[]
  readonly texts: readonly Line[]
  /** The columns that a field or a condition reads. */
  readonly taken: ReadonlySet<Column>
  /** Further fields that columns could be. */
  readonly further: readonly FurtherProposal[]
}

/** How an event names its venue: by a column of another table, or by columns that are the venue of the same row. */
export type VenuePlace =
  | { readonly link: VenueLink }
  /** @param address the columns that only describe the venue */
  | { readonly within: readonly Column[]; readonly address: ReadonlySet<Column> }
  | null

type EventField = Exclude<keyof typeof EVENT_NAMES, 'Sold' | 'ShowOnWeb'>

/** What pages take for no limit (docs/crm/README.md). */
const NO_LIMIT = "{ value: '2147483647' }: there is no limit"

const QUESTIONS = {
  Name: 'Which column is the title? Name it here, or write null for none',
  TicketCapacity: `Which column is the total number of tickets? Name it here, or write null: every event then has 0; or ${NO_LIMIT}`,
  TicketsAvailable: `Which column is the number of tickets left? Name it here, or write null: all events are then sold out; or ${NO_LIMIT}`,
  Price: 'Which column is the price? Name it here, or write null: every price is then 0',
}

/** Asked if the tickets left have words such as `ausverkauft`. */
const SOLD_OUT_QUESTION = `Which column is the total number of tickets? Name it here, or write ${NO_LIMIT}; or write null: then 0 tickets left may mean that nobody counts them, and no site shows that an event is sold out.`

/** Proposes the fields of events: by the contents of columns first, by their names second. */
export function eventsOf(table: Table, place: VenuePlace, doubt: string | null, venuesAreKnown: boolean): ListProposal {
  const { columns } = table
  const link = place !== null && 'link' in place ? place.link : null
  const { within, address } = place !== null && 'within' in place ? place : { within: [], address: [] }
  const called = idField(columns)
  const taken = new Set<Column>(
    [called, link?.from, ...address, ...besides(link, columns)].flatMap((column) => column ?? []),
  )
  const fields: Line[] = []
  const ask = (field: keyof typeof QUESTIONS): void => {
    fields.push({ key: field, value: OPEN, evidence: `${QUESTIONS[field]}.${meantFor(field, columns, taken)}` })
  }
  const find = (field: EventField, among: readonly Column[]): Column | null => {
    const own = named(among, EVENT_NAMES[field], taken)
    // A name within an inner object is most likely not the event's.
    const column = own ?? (field === 'Name' ? null : namedAnywhere(among, EVENT_NAMES[field], taken))
    if (column !== null) taken.add(column)
    return column
  }
  const filled = columns.filter(({ filled: rows }) => rows > 0)
  const texts = filled.filter(({ kind }) => kind === 'text')
  const name = find('Name', texts)
  if (name === null) ask('Name')
  else fields.push({ key: 'Name', value: textSource(name), evidence: byName(name) })
  if (within.length > 0) {
    fields.push({ key: 'VenueId', value: sourceOf(within), evidence: `the venues are made of it; ${placesIn(within)}` })
  } else if (link !== null || venuesAreKnown) {
    fields.push(...[venueIdOf(columns, link)].filter((line) => line !== null))
  }
  const dates = datesOf(columns, taken)
  fields.push(...dates.lines)
  const numbers = filled.filter((column) => column.kind === 'number')
  const capacity = find('TicketCapacity', numbers)
  if (capacity !== null) fields.push({ key: 'TicketCapacity', ...numberSource(capacity, isSoldOut) })
  // A currency makes prices of tickets of a column that is called so.
  const left = filled.filter((column) => readsAs(column, isSoldOut).areNumbers && !hasCurrency(column))
  const available = find('TicketsAvailable', left) ?? mixedTickets(left, taken)
  const unsold = unsoldOnly(filled, taken)
  const sold = available === null && capacity !== null ? named(numbers, EVENT_NAMES.Sold, taken) : null
  if (available !== null) {
    const sellsOut = capacity === null && readsAs(available, isSoldOut).zeros.length > 0
    if (sellsOut) fields.push({ key: 'TicketCapacity', value: OPEN, evidence: SOLD_OUT_QUESTION })
    fields.push({ key: 'TicketsAvailable', ...numberSource(available, isSoldOut, unsold) })
  } else if (capacity !== null && sold !== null) {
    taken.add(sold)
    fields.push({ key: 'TicketsAvailable', ...leftOf(capacity, sold, unsold) })
  } else {
    const marked = soldOutOf(filled, taken, capacity) ?? (unsold === null ? null : unsoldTickets(capacity, unsold))
    if (capacity === null && marked !== null)
      fields.push({ key: 'TicketCapacity', value: OPEN, evidence: SOLD_OUT_QUESTION })
    else if (capacity === null) ask('TicketCapacity')
    if (marked === null) ask('TicketsAvailable')
    else fields.push(marked)
  }
  const price = find(
    'Price',
    filled.filter((column) => readsAs(column, isFree).areNumbers),
  )
  if (price === null) ask('Price')
  else fields.push({ key: 'Price', ...numberSource(price, isFree) })
  const tags = find('Tags', texts.filter(mayBeTags))
  if (tags !== null)
    fields.push(lineOf('Tags', tags, `${howMany(tags.texts.length, 'different text')}; ${example(tags)}`))
  const id = called === null ? joinedId(name === null ? [] : [name], dates.starts, within.slice(0, 1)) : [called]
  const read = [capacity, available, sold, price].filter((column) => column !== null)
  const showOnWeb = showOnWebOf(columns, taken)
  const condition = activeOf(table, taken, 'event')
  const further = furtherColumns('events', columns, taken, condition)
  const showsCancelled = condition.value === 'null' && further.some(({ isActive }) => isActive === true)
  const active = showsCancelled ? { ...condition, evidence: 'Status says which events are cancelled' } : condition
  return {
    list: 'events',
    table,
    doubt,
    needsNamespace: called?.isGuid !== true,
    fields: [idLine(id, columns, called !== null), ...fields],
    more: [showOnWeb, active],
    texts: textLines(table, read, dates.formats, tags),
    taken,
    further: [...textsOfPrices(price), ...further],
  }
}

/** The other columns of the object with the event's venue, such as `venue.city`: the venues have their own. */
function besides(link: VenueLink | null, columns: readonly Column[]): readonly Column[] {
  const [object = '', ...within] = link?.from.name.split('.') ?? []
  return link === null || within.length === 0 ? [] : columns.filter(({ name }) => name.startsWith(`${object}.`))
}

function placesIn([place, town]: readonly Column[]): string {
  if (place === undefined) return ''
  const why = town === undefined ? '' : `; one name is in two places of ${town.name}`
  return `${howMany(place.texts.length, 'different name')}${why}; ${example(place)}`
}

/** How a column's texts are read as numbers. */
interface NumberTexts {
  /** Whether most can be. */
  readonly areNumbers: boolean
  /** Words that stand for 0. */
  readonly zeros: readonly string[]
  /** Whether some texts are several prices, or prices with words. */
  readonly hasPrices: boolean
  readonly fit: number
  readonly others: readonly string[]
}

function readsAs({ texts, kind, filled }: Column, isZero: (text: string) => boolean): NumberTexts {
  const isPrice = (text: string): boolean => isZero === isFree && !isNumber(text) && isPriceText(text)
  const isRead = (text: string): boolean => isNumber(text) || isZero(text) || isPrice(text)
  const fit = countOf(texts, isRead)
  const hasPrices = texts.some(({ text }) => isPrice(text))
  return {
    areNumbers: (kind === 'number' || kind === 'text') && isMost(fit, filled),
    zeros: texts.flatMap(({ text }) => (isZero(text) && !isNumber(text) ? [text] : [])),
    hasPrices,
    fit: fit - countOf(texts, (text) => isZero(text) && !isNumber(text)),
    others: texts.flatMap(({ text }) => (isRead(text) || (hasPrices && hasSurePrice(text)) ? [] : [text])),
  }
}

/** The tickets left, by those sold. A word such as `ausverkauft` counts as more than any capacity, so it leaves 0. */
function leftOf(capacity: Column, sold: Column, unsold: UnsoldOnly | null): Omit<Line, 'key'> {
  const words = distinctWords(readsAs(sold, isSoldOut).zeros)
  const values =
    words.length === 0 ? '' : `, values: { ${words.map((text) => `${quoted(text)}: 2147483647`).join(', ')} }`
  const { evidence } = numberSource(sold, isSoldOut)
  const columns = `subtract: [${quoted(capacity.name)}, ${quoted(sold.name)}]`
  if (unsold === null) return { value: `{ ${columns}${values} }`, evidence }
  return { value: `{ ${columns}${values}, ${unsold.key} }`, evidence: `${evidence}; ${unsold.evidence}` }
}

const SOME_WORDS = 12

/** Words, of which `values` may have each once, whatever its case. */
function distinctWords(texts: readonly string[]): readonly string[] {
  return [...new Map(texts.slice(0, SOME_WORDS).map((text) => [text.trim().toLowerCase(), text.trim()])).values()]
}

/** The source of a number: a column, what its words stand for, and the lowest of several prices. */
function numberSource(
  column: Column,
  isZero: (text: string) => boolean,
  unsold: UnsoldOnly | null = null,
): Omit<Line, 'key'> {
  const { zeros, hasPrices, fit, others } = readsAs(column, isZero)
  const words = distinctWords(zeros)
  const more = [
    ...(words.length === 0 ? [] : [`values: { ${words.map((text) => `${quoted(text)}: 0`).join(', ')} }`]),
    ...(hasPrices ? ['pick: least'] : []),
    ...(unsold === null ? [] : [unsold.key]),
  ]
  const isNumbers = hasPrices ? (fit === 1 ? 'has a price' : 'have a price') : fit === 1 ? 'is a number' : 'are numbers'
  const facts = [
    `${counted(fit)} of ${counted(column.filled)} ${isNumbers}; ${example(column)}`,
    ...(hasPrices ? ['the lowest of several counts'] : []),
    ...(words.length === 0 ? [] : [`${words.join(', ')}: 0${isZero === isSoldOut ? ' tickets left' : ''}`]),
    ...(unsold === null ? [] : [unsold.evidence]),
    ...(others.length === 0
      ? []
      : [`rows with ${others.slice(0, 3).join(', ')} are withheld until values says what to read instead`]),
  ]
  return { value: sourceOf([column], ...more), evidence: facts.join('; ') }
}

/** The text of prices beside the lowest one, and the highest if the texts tell it. */
function textsOfPrices(price: Column | null): readonly FurtherProposal[] {
  if (price === null || !readsAs(price, isFree).hasPrices) return []
  const text: FurtherProposal = { key: 'PriceText', type: 'text', value: quoted(price.name), evidence: example(price) }
  const hasSeveral = price.texts.some((one) => pricesIn(one.text).length > 1)
  // After `ab 18,-` the highest price is unknown.
  if (!hasSeveral || price.texts.some((one) => saysFrom(one.text))) return [text]
  const value = numberSource(price, isFree).value.replace('pick: least', 'pick: greatest')
  const evidence = 'search engines read it: rows of one price then have no other'
  return [text, { key: 'HighestPrice', type: 'decimal', value, evidence }]
}

/** The tickets left, where words such as `ausverkauft` stand among the numbers. */
function mixedTickets(columns: readonly Column[], taken: Set<Column>): Column | null {
  const mixed = columns.filter(
    ({ texts }) => texts.some(({ text }) => isSoldOut(text)) && texts.some(({ text }) => isNumber(text)),
  )
  const column = namedExactly(mixed, TICKET_NAMES, taken)
  if (column !== null) taken.add(column)
  return column
}

/** Proposes the tickets left by a column that marks what is sold out. */
function soldOutOf(columns: readonly Column[], taken: Set<Column>, capacity: Column | null): Line | null {
  const column = columns.find((one) => !taken.has(one) && isNamed(one, SOLD_OUT_NAMES) && one.texts.length <= 4)
  const marks = column?.texts.filter(({ text }) => isYes(text) || isSoldOut(text)) ?? []
  const isClear = column?.texts.every((one) => marks.includes(one) || isNo(one.text)) === true
  if (column === undefined || marks.length === 0 || !isClear) return null
  taken.add(column)
  const key = 'TicketsAvailable'
  const words = marks.map(({ text }) => quoted(text))
  const name = quoted(column.name)
  const sold = `0 where ${column.name} is ${marks.map(({ text }) => text).join(' or ')}`
  if (capacity !== null) {
    const value = `{ column: ${quoted(capacity.name)}, onlyWhere: { ${name}: { not: [${words.join(', ')}] } } }`
    return { key, value, evidence: `${sold}, else all tickets` }
  }
  const others = column.texts.flatMap((one) => (marks.includes(one) ? [] : [`${quoted(one.text)}: ${OPEN}`]))
  const values = [...words.map((word) => `${word}: 0`), ...others].join(', ')
  const value = `{ column: ${name}, values: { ${values} }, whenBlank: ${OPEN} }`
  return {
    key,
    value,
    evidence: `${sold}. How many tickets are left otherwise? Write '1' if your site only asks whether there are any.`,
  }
}

/** The key that leaves 0 tickets in the rows whose status says that they are sold out. */
interface UnsoldOnly {
  readonly key: string
  readonly evidence: string
}

function isState(text: string): boolean {
  return soldOutWord(text) !== null || isGoodState(text) || stateSaid(text) !== null
}

function unsoldOnly(columns: readonly Column[], taken: ReadonlySet<Column>): UnsoldOnly | null {
  const free = columns.filter(
    (column) =>
      column.kind === 'text' && !taken.has(column) && column.texts.some(({ text }) => soldOutWord(text) !== null),
  )
  const column =
    named(free, STATUS_NAMES) ??
    free.find(({ texts, filled }) => isMost(countOf(texts, isState), filled)) ??
    free.find(({ texts }) => texts.some(({ text }) => soldOutSaid(text) !== null)) ??
    null
  if (column === null) return null
  // A condition also finds a word at the beginning of a remark, in any case.
  const words = distinctWords(column.texts.flatMap(({ text }) => soldOutWord(text)?.toLowerCase() ?? []))
  const list = words.map(quoted).join(', ')
  const evidence = `0 where ${column.name} begins with ${words.join(' or ')}`
  return { key: `onlyWhere: { ${quoted(column.name)}: { not: [${list}] } }`, evidence }
}

/** Proposes the tickets left by the status alone: all tickets, or the answer to a question. */
function unsoldTickets(capacity: Column | null, { key: onlyWhere, evidence }: UnsoldOnly): Line {
  const key = 'TicketsAvailable'
  if (capacity !== null)
    return { key, value: sourceOf([capacity], onlyWhere), evidence: `${evidence}, else all tickets` }
  const question =
    "How many tickets are left otherwise? Write column: NAME for value, or '2147483647' if there is no limit"
  return { key, value: `{ value: ${OPEN}, ${onlyWhere} }`, evidence: `${evidence}. ${question}.` }
}

/** Whether a column's values fit tags: not the types of programs, names of days, addresses or descriptions. */
function mayBeTags({ name, texts }: Column): boolean {
  const isMachine = /(?:^|\.)(?:[@$]|__)/.test(name)
  const isSame = texts.length === 1 && isNamed({ name: name.replace(/^.*\./, '') }, WEAK_TAGS)
  return (
    !isMachine &&
    !isSame &&
    !texts.every(({ text }) => isDayName(text)) &&
    !texts.some(({ text }) => text.length > 150 || /^https?:/i.test(text))
  )
}

function hasCurrency({ texts }: Column): boolean {
  return texts.some(({ text }) => /\d/.test(text) && currenciesIn(text).length > 0)
}

/** Mentions the column that has the field's name but unsuitable contents. */
function meantFor(field: EventField, columns: readonly Column[], taken: ReadonlySet<Column>): string {
  const filled = columns.filter((column) => column.filled > 0 && !taken.has(column))
  const column = named(filled, EVENT_NAMES[field]) ?? (field === 'Price' ? filled.find(hasCurrency) : null) ?? null
  return column === null ? '' : ` Is it ${column.name} (${example(column)}${whyNot(column)})?`
}

/** Explains why no field reads a column, if that is evident, to follow an example of it. */
export function whyNot(column: Column): string {
  const number = (['Price', 'TicketCapacity', 'TicketsAvailable'] as const).find((field) =>
    isNamed(column, EVENT_NAMES[field]),
  )
  if (number !== undefined && column.kind !== 'number')
    return `; ${number} needs numbers, and most values are not numbers`
  return column.texts.some(({ text }) => stateSaid(text) === 'cancelled')
    ? '; it says that events are cancelled, so publish it as Status'
    : ''
}
