import { type DateFormat, parseByFormat } from '../domain/date-format.ts'
import { parseDateTimeText } from '../domain/date-time.ts'
import { type Column, commonFormats, ENOUGH, joinedFormats } from './column.ts'
import { momentRole } from './moment-names.ts'
import { type Line, counted, example, OPEN, quoted } from './line.ts'

export interface Dates {
  readonly lines: readonly Line[]
  readonly formats: readonly DateFormat[]
  /** Days without a time: midnight is served only where somebody says so. */
  readonly dayOnly: Column | null
}

/** Where events start and end: by what the columns hold, and among several by what they are called; never by their order. */
export function datesOf(columns: readonly Column[], taken: Set<Column>): Dates {
  const moments = columns.filter(({ kind }) => kind === 'date-time')
  const days = columns.filter(({ kind }) => kind === 'date')
  const times = columns.filter(({ kind }) => kind === 'time')
  // Named as one, and most of what it holds is none: a question, and nothing else is taken in its place.
  const unfit = columns.filter(
    ({ name, kind, filled }) =>
      kind === 'text' && filled.length > 0 && ['start', 'finish'].includes(momentRole(name) ?? ''),
  )
  const isStartUnfit = unfit.some(({ name }) => momentRole(name) === 'start')
  const start = isStartUnfit ? null : startOf(moments)
  if (start !== null) return wholes(start, [...moments, ...unfit], taken)
  const all = [...moments, ...days, ...times, ...unfit]
  const day = isStartUnfit ? null : startOf(days)
  if (day === null || moments.some((column) => momentRole(column.name) !== 'other'))
    return { lines: [openStart(all), openFinish(all)], formats: [], dayOnly: null }
  taken.add(day)
  return joined(day, days, [...times, ...unfit], taken)
}

function wholes(start: Column, moments: readonly Column[], taken: Set<Column>): Dates {
  taken.add(start)
  const others = moments.filter((column) => column !== start)
  const [finish, ...more] = others.filter(
    (column) =>
      momentRole(column.name) === 'finish' && isAfter(column.values, start.values, commonFormats([start, column])),
  )
  const isOpen = finish === undefined || more.length > 0
  const formats = commonFormats(isOpen ? [start] : [start, finish])
  const startLine = { key: 'Start', value: quoted(start.name), evidence: evidenceOf(start.filled, formats) }
  if (isOpen) return { lines: [startLine, openFinish(others)], formats, dayOnly: null }
  taken.add(finish)
  const name = quoted(finish.name)
  const line = finishLine(start, finish, name, `column: ${name}`, evidenceOf(finish.filled, formats))
  return { lines: [startLine, line], formats, dayOnly: null }
}

function joined(day: Column, days: readonly Column[], times: readonly Column[], taken: Set<Column>): Dates {
  const begins = startOf(times)
  if (begins === null) {
    const finish = openFinish([...days, ...times].filter((one) => one !== day))
    if (times.length > 0) return { lines: [openStart([day, ...times]), finish], formats: [], dayOnly: null }
    const evidence = `${counted(day.fit)} of ${counted(day.filled.length)} fit; ${example(day.filled)}`
    const line = { key: 'Start', value: quoted(day.name), evidence }
    return { lines: [line, finish], formats: day.formats, dayOnly: day }
  }
  taken.add(begins)
  const texts = pairs(day, begins)
  const formats = joinedFormats(texts)
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
  if (isOpen || (lastDay !== day && !isAfter(allPairs(lastDay, ends), allPairs(day, begins), formats))) {
    const rest = [...days, ...times].filter((column) => !taken.has(column))
    return { lines: [startLine, openFinish(rest)], formats, dayOnly: null }
  }
  taken.add(lastDay)
  taken.add(ends)
  const join = `join: [${quoted(lastDay.name)}, ${quoted(ends.name)}]`
  const line = finishLine(day, ends, `{ ${join} }`, join, evidenceOf(pairs(lastDay, ends), formats))
  return { lines: [startLine, line], formats, dayOnly: null }
}

/** @param inside what the source is, to which is added how long those rows last that have no end */
function finishLine(starts: Column, ends: Column, whole: string, inside: string, evidence: string): Line {
  const blank = ends.values.filter((value, row) => value === null && starts.values[row] !== null).length
  if (blank === 0) return { key: 'Finish', value: whole, evidence }
  return {
    key: 'Finish',
    value: `{ ${inside}, whenBlank: { lasting: ${OPEN} } }`,
    evidence: `${blank === 1 ? '1 row has' : `${counted(blank)} rows have`} no end: how long do they last, such as 2h30m?`,
  }
}

/** The one column that can be the start; null where there is none, or nothing decides between several. */
function startOf(columns: readonly Column[]): Column | null {
  for (const role of ['start', 'date'] as const) {
    const found = columns.filter(({ name }) => momentRole(name) === role)
    if (found.length > 0) return found.length === 1 ? (found[0] ?? null) : null
  }
  const [only, ...others] = columns.filter(({ name }) => momentRole(name) !== 'finish')
  return only === undefined || others.length > 0 || momentRole(only.name) === 'other' ? null : only
}

function openStart(columns: readonly Column[]): Line {
  return { key: 'Start', value: OPEN, evidence: `which column says when events start${among(columns)}? Name it here` }
}

function openFinish(columns: readonly Column[]): Line {
  const unclear =
    columns.length === 0 ? 'no column says when events end' : `nothing says which column is the end${among(columns)}`
  return { key: 'Finish', value: `{ lasting: ${OPEN} }`, evidence: `${unclear}: how long do they last, such as 2h30m?` }
}

function among(columns: readonly Column[]): string {
  return columns.length === 0 ? '' : ` (${columns.map(({ name }) => name).join(', ')})`
}

function allPairs(day: Column, time: Column): readonly (string | null)[] {
  return day.values.map((value, index) => {
    const other = time.values[index] ?? null
    return value === null || other === null ? null : `${value} ${other}`
  })
}

function pairs(day: Column, time: Column): readonly string[] {
  return allPairs(day, time).filter((text) => text !== null)
}

function secondsOf(text: string | null, formats: readonly DateFormat[]): number | null {
  if (text === null) return null
  const [format] = formats
  const iso = parseDateTimeText(text)
  if (iso !== null) return iso.kind === 'wall' ? iso.wall.seconds : iso.instant.epochSeconds
  return format === undefined ? null : (parseByFormat(text, format)?.seconds ?? null)
}

/** Whether what one column holds is after what the other holds, in the rows where both can be read. */
function isAfter(
  ends: readonly (string | null)[],
  starts: readonly (string | null)[],
  formats: readonly DateFormat[],
): boolean {
  let both = 0
  let after = 0
  for (const [index, text] of ends.entries()) {
    const end = secondsOf(text, formats)
    const start = secondsOf(starts[index] ?? null, formats)
    if (end === null || start === null) continue
    both++
    if (end > start) after++
  }
  return after > 0 && after >= both * ENOUGH
}

/** How many of the texts can be read; one of which several formats are possible is read in the first. */
function evidenceOf(texts: readonly string[], formats: readonly DateFormat[]): string {
  const fit = texts.filter((text) => secondsOf(text, formats) !== null).length
  return `${counted(fit)} of ${counted(texts.length)} fit; ${example(texts)}`
}
