import { type DateFormat, parseByFormat } from '../domain/date-format.ts'
import { parseDateTimeText } from '../domain/date-time.ts'
import { type Column, type CountedText, commonFormats, countedTexts, ENOUGH, joinedFormats, rowsOf } from './column.ts'
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
  const moments = columns.filter(({ kind }) => kind === 'date-time')
  const days = columns.filter(({ kind }) => kind === 'date')
  const times = columns.filter(({ kind }) => kind === 'time')
  // A column named like a date with other contents is a question; no other column replaces it.
  const unfit = columns.filter(
    ({ name, kind, filled }) => kind === 'text' && filled > 0 && ['start', 'finish'].includes(momentRole(name) ?? ''),
  )
  // A text that is called a date and holds digits is asked about: "Mar 5, 2027" cannot be read.
  const unreadable = columns.filter(
    ({ name, kind, texts }) =>
      kind === 'text' && momentRole(name) === 'date' && texts.some(({ text }) => /\d/.test(text)),
  )
  const isStartUnfit = unfit.some(({ name }) => momentRole(name) === 'start')
  const start = isStartUnfit ? null : startOf(moments)
  const day = isStartUnfit ? null : startOf(days)
  // Whoever has a column of days and one of times, both named so, means them; a date-time without such a name is another date.
  const isSplit = day !== null && mayStart(day) && times.some(mayStart)
  const role = start === null ? null : momentRole(start.name)
  const isDoubtful = role !== 'start' && (isSplit || (role === null && unreadable.length > 0))
  if (start !== null && !isDoubtful) return wholes(start, [...moments, ...unfit], taken)
  const all = [...moments, ...days, ...times, ...unfit, ...unreadable]
  const isUnclear = moments.some(({ name }) => momentRole(name) !== 'other' && !(isSplit && momentRole(name) === null))
  if (day === null || isUnclear) return { lines: [openStart(all), openFinish(all)], formats: [], dayOnly: null }
  taken.add(day)
  return joined(day, days, [...times, ...unfit], taken)
}

function wholes(start: Column, moments: readonly Column[], taken: Set<Column>): Dates {
  taken.add(start)
  const others = moments.filter((column) => column !== start)
  const [finish, ...more] = others.filter(
    (column) => momentRole(column.name) === 'finish' && isAfter([start], [column], commonFormats([start, column])),
  )
  const isOpen = finish === undefined || more.length > 0
  const formats = commonFormats(isOpen ? [start] : [start, finish])
  const startLine = { key: 'Start', value: quoted(start.name), evidence: evidenceOfColumn(start, formats) }
  if (isOpen) return { lines: [startLine, openFinish(others)], formats, dayOnly: null }
  taken.add(finish)
  const name = quoted(finish.name)
  const line = finishLine(start, finish, name, `column: ${name}`, evidenceOfColumn(finish, formats))
  return { lines: [startLine, line], formats, dayOnly: null }
}

function joined(day: Column, days: readonly Column[], times: readonly Column[], taken: Set<Column>): Dates {
  const begins = startOf(times)
  if (begins === null) {
    const finish = openFinish([...days, ...times].filter((one) => one !== day))
    if (times.length > 0) return { lines: [openStart([day, ...times]), finish], formats: [], dayOnly: null }
    const evidence = `${counted(day.fit)} of ${counted(day.filled)} ${day.fit === 1 ? 'fits' : 'fit'}; ${example(day)}`
    const line = { key: 'Start', value: quoted(day.name), evidence }
    return { lines: [line, finish], formats: day.formats, dayOnly: day }
  }
  const texts = joinedTexts(day, begins)
  const formats = joinedFormats(texts)
  if (!texts.some(({ text }) => secondsOf(text, formats) !== null)) {
    const all = [...days, ...times]
    return { lines: [openStart(all), openFinish(all)], formats: [], dayOnly: null }
  }
  taken.add(begins)
  const startLine = {
    key: 'Start',
    value: `{ join: [${quoted(day.name)}, ${quoted(begins.name)}] }`,
    evidence: evidenceOf(texts, formats),
  }
  const lastDays = days.filter(({ name }) => momentRole(name) === 'finish')
  const lastTimes = times.filter(({ name, kind }) => kind === 'time' && momentRole(name) === 'finish')
  const [lastDay = day] = lastDays
  const [ends] = lastTimes
  const isOpen = ends === undefined || lastTimes.length > 1 || lastDays.length > 1
  if (isOpen || (lastDay !== day && !isAfter([day, begins], [lastDay, ends], formats))) {
    const rest = [...days, ...times].filter((column) => !taken.has(column))
    return { lines: [startLine, openFinish(rest)], formats, dayOnly: null }
  }
  taken.add(lastDay)
  taken.add(ends)
  const join = `join: [${quoted(lastDay.name)}, ${quoted(ends.name)}]`
  const line = finishLine(day, ends, `{ ${join} }`, join, evidenceOf(joinedTexts(lastDay, ends), formats))
  return { lines: [startLine, line], formats, dayOnly: null }
}

/** @param inside the keys of the source, to which the duration of rows without an end is added */
function finishLine(starts: Column, ends: Column, whole: string, inside: string, evidence: string): Line {
  const both = rowsOf([starts, ends]).length
  // In a large file not every row is known.
  const blank = Math.max(starts.at.length - both, starts.filled - ends.filled)
  if (blank <= 0) return { key: 'Finish', value: whole, evidence }
  return {
    key: 'Finish',
    value: `{ ${inside}, whenBlank: { lasting: ${OPEN} } }`,
    evidence: `${blank === 1 ? '1 row has' : `${counted(blank)} rows have`} no end time. How long do these events last? For example 2h30m.`,
  }
}

function mayStart({ name }: Column): boolean {
  return ['start', 'date'].includes(momentRole(name) ?? '')
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

function openStart(columns: readonly Column[]): Line {
  const day = columns.find(({ kind }) => kind === 'date')
  const time = columns.find(
    ({ name, kind }) => kind !== 'date' && kind !== 'date-time' && momentRole(name) !== 'finish',
  )
  const two =
    day === undefined || time === undefined
      ? ''
      : ` If its date and time are in two columns, name both, such as { join: [${quoted(day.name)}, ${quoted(time.name)}] }.`
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

/** A day and a time, joined as they will be read. */
function joinedTexts(day: Column, time: Column): readonly CountedText[] {
  const rows = rowsOf([day, time]).filter((row) => !row.includes(''))
  return countedTexts(rows.map((row) => row.join(' ')))
}

function secondsOf(text: string, formats: readonly DateFormat[]): number | null {
  const [format] = formats
  const iso = parseDateTimeText(text)
  if (iso !== null) return iso.kind === 'wall' ? iso.wall.seconds : iso.instant.epochSeconds
  return format === undefined ? null : (parseByFormat(text, format)?.seconds ?? null)
}

/**
 * Returns true if most ends are after their starts, in rows where both can be read. Each is given by one or two
 * columns.
 */
function isAfter(starts: readonly Column[], ends: readonly Column[], formats: readonly DateFormat[]): boolean {
  let both = 0
  let after = 0
  for (const row of rowsOf([...starts, ...ends])) {
    const start = secondsOf(row.slice(0, starts.length).join(' '), formats)
    const end = secondsOf(row.slice(starts.length).join(' '), formats)
    if (end === null || start === null) continue
    both++
    if (end > start) after++
  }
  return after > 0 && after >= both * ENOUGH
}

/** Counts the readable texts of a column, by the first of the possible formats. */
function evidenceOfColumn({ texts, others, othersFit }: Column, formats: readonly DateFormat[]): string {
  return evidenceOf(texts, formats, others, othersFit)
}

function evidenceOf(texts: readonly CountedText[], formats: readonly DateFormat[], others = 0, othersFit = 0): string {
  let [all, fit] = [others, othersFit]
  for (const { text, count } of texts) {
    all += count
    if (secondsOf(text, formats) !== null) fit += count
  }
  return `${counted(fit)} of ${counted(all)} ${fit === 1 ? 'fits' : 'fit'}; ${example({ texts })}`
}
