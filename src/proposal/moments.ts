import { type DateFormat, parseByFormat } from '../domain/date-format.ts'
import { parseDateTimeText } from '../domain/date-time.ts'
import { type Column, type CountedText, countedTexts, countOf, dateTimeFormats, isMost, rowsOf } from './column.ts'
import { momentRole } from './field-names.ts'
import { type Line, counted, example, OPEN, quoted } from './line.ts'

export interface Dates {
  readonly lines: readonly Line[]
  readonly formats: readonly DateFormat[]
  /** A column of days without a time. Midnight is only served if the configuration says so. */
  readonly dayOnly: Column | null
}

/**
 * Proposes Start and Finish by the columns' contents, and by names if there are several. The order of columns does not
 * count.
 */
export function datesOf(columns: readonly Column[], taken: Set<Column>): Dates {
  const of = (kind: Column['kind']): readonly Column[] => columns.filter((column) => column.kind === kind)
  const [wholes, days, times, unfit] = [of('date-time'), of('date'), of('time'), columns.filter(isUnfit)]
  const all = [...wholes, ...days, ...times, ...unfit]
  const starts = startsOf(wholes, days, times, unfit)
  if (starts === null) return { lines: [openStart(all), openFinish(all)], formats: [], dayOnly: null }
  const ends = endsOf(starts, all)
  for (const column of [...starts, ...ends]) taken.add(column)
  const [first] = starts
  const dayOnly = starts.length === 1 && first?.kind === 'date' ? first : null
  const formats = dayOnly?.formats ?? formatsOf(starts, ends)
  const start = { key: 'Start', value: sourceOf(starts), evidence: evidenceOf(starts, formats) }
  const rest = all.filter((column) => !starts.includes(column))
  const finish = ends.length === 0 ? openFinish(rest) : finishLine(starts, ends, formats)
  return { lines: [start, finish], formats, dayOnly }
}

/** A text that is called a date is a question, and no other column replaces it: "Mar 5, 2027" cannot be read. */
function isUnfit({ name, kind, filled, texts }: Column): boolean {
  const role = momentRole(name)
  if (kind !== 'text' || filled === 0 || role === null || role === 'other') return false
  return role !== 'date' || texts.some(({ text }) => /\d/.test(text))
}

/** The columns of the start: a date-time, a day and a time, or a day; `null` if that is a question. */
function startsOf(
  wholes: readonly Column[],
  days: readonly Column[],
  times: readonly Column[],
  unfit: readonly Column[],
): readonly Column[] | null {
  if (unfit.some(({ name }) => momentRole(name) === 'start')) return null
  const [whole, day, time] = [startOf(wholes), startOf(days), startOf(times)]
  // A column of days and one of times, both named so, are meant; a date-time without such a name is another date.
  const isSplit = day !== null && mayStart(day) && times.some(mayStart)
  const isDoubtful = isSplit || (whole !== null && isUnnamed(whole) && unfit.some(mayStart))
  if (whole !== null && (momentRole(whole.name) === 'start' || !isDoubtful)) return [whole]
  const rivals = wholes.filter((one) => momentRole(one.name) !== 'other' && !(isSplit && isUnnamed(one)))
  if (day === null || rivals.length > 0) return null
  if (time === null) return times.length > 0 ? null : [day]
  const starts = [day, time]
  const formats = formatsOf(starts)
  return textsOf(starts).some(({ text }) => secondsOf(text, formats) !== null) ? starts : null
}

/** The columns of the end, named so: of the same kind as those of the start; none if they are unclear. */
function endsOf(starts: readonly Column[], all: readonly Column[]): readonly Column[] {
  const named = all.filter((column) => !starts.includes(column) && momentRole(column.name) === 'finish')
  const of = (kind: Column['kind']): readonly Column[] => named.filter((column) => column.kind === kind)
  const [day, time] = starts
  if (time === undefined) {
    const ends = of('date-time').filter((column) => isAfter(starts, [column]))
    return ends.length === 1 ? ends : []
  }
  const lastDays = of('date')
  const ends = [...(lastDays.length === 0 && day !== undefined ? [day] : lastDays), ...of('time')]
  // An earlier time on the same day is on the next day.
  return ends.length === 2 && ends[1]?.kind === 'time' && (ends[0] === day || isAfter(starts, ends)) ? ends : []
}

function mayStart({ name }: Column): boolean {
  return ['start', 'date'].includes(momentRole(name) ?? '')
}

function isUnnamed({ name }: Column): boolean {
  return momentRole(name) === null
}

/** The only candidate for the start; `null` if there is none or several. */
function startOf(columns: readonly Column[]): Column | null {
  for (const role of ['start', 'date'] as const) {
    const found = columns.filter(({ name }) => momentRole(name) === role)
    if (found.length > 0) return found.length === 1 ? (found[0] ?? null) : null
  }
  const [only, ...others] = columns.filter(({ name }) => momentRole(name) !== 'finish')
  return only === undefined || others.length > 0 || momentRole(only.name) === 'other' ? null : only
}

function finishLine(starts: readonly Column[], ends: readonly Column[], formats: readonly DateFormat[]): Line {
  const blank = rowsOf(starts).length - rowsOf([...starts, ...ends]).length
  if (blank === 0) return { key: 'Finish', value: sourceOf(ends), evidence: evidenceOf(ends, formats) }
  return {
    key: 'Finish',
    value: `{ ${keyOf(ends)}, whenBlank: { lasting: ${OPEN} } }`,
    evidence: `${blank === 1 ? '1 row has' : `${counted(blank)} rows have`} no end time. How long do these events last? For example 2h30m.`,
  }
}

function keyOf(columns: readonly Column[]): string {
  const names = columns.map(({ name }) => quoted(name)).join(', ')
  return columns.length === 1 ? `column: ${names}` : `join: [${names}]`
}

function sourceOf(columns: readonly Column[]): string {
  return columns.length === 1 ? columns.map(({ name }) => quoted(name)).join('') : `{ ${keyOf(columns)} }`
}

function openStart(columns: readonly Column[]): Line {
  const day = columns.find(({ kind }) => kind === 'date')
  const time = columns.find(
    ({ name, kind }) => kind !== 'date' && kind !== 'date-time' && momentRole(name) !== 'finish',
  )
  const two =
    day === undefined || time === undefined
      ? ''
      : ` If its date and time are in two columns, name both, such as ${sourceOf([day, time])}.`
  const evidence = `Which column is the start of events${among(columns)}? Name it here.${two}`
  return { key: 'Start', value: OPEN, evidence }
}

function openFinish(columns: readonly Column[]): Line {
  const unclear =
    columns.length === 0
      ? 'No column is the end of events'
      : `It is unclear which column is the end of events${among(columns)}`
  return {
    key: 'Finish',
    value: `{ lasting: ${OPEN} }`,
    evidence: `${unclear}. How long do events last? For example 2h30m.`,
  }
}

function among(columns: readonly Column[]): string {
  return columns.length === 0 ? '' : ` (${columns.map(({ name }) => name).join(', ')})`
}

/** The texts of a date-time, or of a day and a time joined as they will be read. */
function textsOf(columns: readonly Column[]): readonly CountedText[] {
  return countedTexts(rowsOf(columns).map((row) => row.join(' ')))
}

function formatsOf(starts: readonly Column[], ends: readonly Column[] = []): readonly DateFormat[] {
  return dateTimeFormats([...textsOf(starts), ...textsOf(ends)])
}

function secondsOf(text: string, [format]: readonly DateFormat[]): number | null {
  const iso = parseDateTimeText(text)
  if (iso !== null) return iso.kind === 'wall' ? iso.wall.seconds : iso.instant.epochSeconds
  return format === undefined ? null : (parseByFormat(text, format)?.seconds ?? null)
}

/** Returns true if most ends are after their starts, in rows where both can be read. */
function isAfter(starts: readonly Column[], ends: readonly Column[]): boolean {
  const formats = formatsOf(starts, ends)
  const known = rowsOf([...starts, ...ends]).flatMap((row) => {
    const start = secondsOf(row.slice(0, starts.length).join(' '), formats)
    const end = secondsOf(row.slice(starts.length).join(' '), formats)
    return start === null || end === null ? [] : [end - start]
  })
  return isMost(known.filter((seconds) => seconds > 0).length, known.length)
}

/** Counts the readable texts, by the first of the possible formats. */
function evidenceOf(columns: readonly Column[], formats: readonly DateFormat[]): string {
  const texts = textsOf(columns)
  const fit = countOf(texts, (text) => secondsOf(text, formats) !== null)
  const all = countOf(texts, () => true)
  return `${counted(fit)} of ${counted(all)} ${fit === 1 ? 'fits' : 'fit'}; ${example({ texts })}`
}
