import { parseDateTimeText } from '../domain/date-time.ts'
import { isNo, isYes } from '../domain/flag-words.ts'
import { openZone } from '../domain/zone.ts'
import { type Column, type CountedText, countedTexts, countOf, isMost } from './column.ts'
import { ALL_DAY_NAMES, isNamed, momentRole } from './field-names.ts'
import { type Line, counted, example, listed, OPEN, quoted, sourceOf } from './line.ts'
import { dayAlone, dayWithTime, formatsOf, hasRange, secondsIn } from './written-dates.ts'

export interface Dates {
  readonly lines: readonly Line[]
  /** The formats, for `texts`; `null` if the dates need none. */
  readonly formats: Line | null
  /** The columns of the start; empty if that is a question. */
  readonly starts: readonly Column[]
}

/**
 * Proposes Start and Finish by the columns' contents, and by names if there are several. The order of columns does not
 * count.
 */
export function datesOf(columns: readonly Column[], taken: Set<Column>): Dates {
  const free = columns.filter((column) => !taken.has(column))
  const of = (...kinds: readonly Column['kind'][]): readonly Column[] => free.filter(({ kind }) => kinds.includes(kind))
  const [wholes, days, times, unfit] = [of('date-time'), of('date', 'worded-date'), of('time'), free.filter(isUnfit)]
  const all = [...wholes, ...days, ...times, ...unfit]
  const starts = startsOf(wholes, days, times, unfit)
  if (starts === null) return { lines: [openStart(all), openFinish(all)], formats: null, starts: [] }
  const ends = endsOf(starts, all)
  const zone = zoneOf(free, starts)
  const allDay = starts.length === 2 ? allDayOf(free, starts) : null
  for (const column of [...starts, ...ends, zone, allDay]) if (column !== null) taken.add(column)
  // A day among times has no time that is known: its row is withheld, unless it is marked.
  const begun = textsOf(starts, allDay !== null)
  const isTimed = allDay === null && starts.some(({ kind }) => kind === 'date-time')
  const moments = [
    ...(isTimed ? begun.filter(({ text }) => dayAlone(text) === null) : begun),
    ...(ends === starts ? [] : textsOf(ends, allDay !== null)),
  ]
  const more = zone === null ? [] : [`wallTimeIn: { column: ${quoted(zone.name)} }`]
  const facts = zone === null ? '' : `; ${zone.name} names the zone of each row`
  const start = {
    key: 'Start',
    value: sourceOf(starts, ...more),
    evidence: `${evidenceOf(starts, allDay !== null)}${facts}`,
  }
  const isDays = starts.every((one) => one.kind === 'date' || (one.kind === 'worded-date' && !hasClock(one)))
  const rest = all.filter((column) => !starts.includes(column))
  const finish = finishLine({ starts, ends, more, isDays, rest, hasAllDay: allDay !== null })
  return { lines: [start, finish], formats: formatsLine(starts, ends, moments), starts }
}

/** A text that is called a date is a question, and no other column replaces it. */
function isUnfit({ name, kind, filled, texts }: Column): boolean {
  const role = momentRole(name)
  if (kind !== 'text' || filled === 0 || role === null || role === 'other') return false
  return role === 'date' ? texts.some(({ text }) => /\d/.test(text)) : !texts.every(({ text }) => isZone(text))
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
  const unread = [...unfit, ...days.filter(({ kind }) => kind === 'worded-date')]
  const isDoubtful = isSplit || (whole !== null && isUnnamed(whole) && unread.some(mayStart))
  if (whole !== null && (momentRole(whole.name) === 'start' || !isDoubtful)) return [whole]
  const rivals = wholes.filter((one) => momentRole(one.name) !== 'other' && !(isSplit && isUnnamed(one)))
  if (day === null || rivals.length > 0) return null
  const others = times.filter(({ name }) => momentRole(name) !== 'finish')
  if (time === null) return others.length > 0 ? null : [day]
  const starts = [day, time]
  return day.kind === 'worded-date' || readsOf(starts) > 0 ? starts : null
}

/** The columns of the end, named so; none if they are unclear. */
function endsOf(starts: readonly Column[], all: readonly Column[]): readonly Column[] {
  const named = all.filter((column) => !starts.includes(column) && momentRole(column.name) === 'finish')
  const of = (...kinds: readonly Column['kind'][]): readonly Column[] =>
    named.filter(({ kind }) => kinds.includes(kind))
  const [day, time] = starts
  const lastDays = of('date', ...(day?.kind === 'worded-date' ? (['worded-date'] as const) : []))
  const lastTimes = of('time')
  const ends = [...(lastDays.length === 0 && day !== undefined && time !== undefined ? [day] : lastDays), ...lastTimes]
  const hasRanges = rangesIn(starts) > 0
  if (time === undefined || lastTimes.length === 0) {
    const moments = [...of('date-time'), ...lastDays].filter(
      (column) => column.kind === 'worded-date' || isAfter(starts, [column]),
    )
    return moments.length === 1 ? moments : moments.length === 0 && hasRanges ? starts : []
  }
  // An earlier time on the same day is on the next day.
  return ends.length === 2 && lastTimes.length === 1 && (ends[0] === day || isAfter(starts, ends)) ? ends : []
}

function hasClock({ texts }: Column): boolean {
  return texts.some(({ text }) => /\d:\d|\d ?[ap]m/i.test(text))
}

function rangesIn(columns: readonly Column[]): number {
  return countOf(textsOf(columns), (text) => hasRange(text))
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

/** The column that names a zone in each row that has a start. */
function zoneOf(columns: readonly Column[], starts: readonly Column[]): Column | null {
  const found = columns.find(({ cells, texts, kind }) => {
    const isFilled = starts[0]?.cells.every((cell, row) => cell === null || (cells[row] ?? null) !== null)
    return kind === 'text' && texts.length > 0 && isFilled === true && texts.every(({ text }) => isZone(text))
  })
  return found ?? null
}

function isZone(text: string): boolean {
  return /^[A-Z][A-Za-z_]+\/[A-Za-z_/+-]+$/.test(text) && openZone(text) !== null
}

/** The column that marks the events of whole days, if all rows without a time are marked. */
function allDayOf(columns: readonly Column[], [day, time]: readonly Column[]): Column | null {
  const column = columns.find(
    (one) => isNamed(one, ALL_DAY_NAMES) && one.texts.every(({ text }) => isYes(text) || isNo(text)),
  )
  const isMarked = day?.cells.every((cell, row) => {
    return cell === null || (time?.cells[row] ?? null) !== null || isYes(column?.cells[row]?.text ?? '')
  })
  return column !== undefined && isMarked === true && day?.filled !== time?.filled ? column : null
}

interface End {
  readonly starts: readonly Column[]
  readonly ends: readonly Column[]
  readonly more: readonly string[]
  readonly isDays: boolean
  /** Whether the events of whole days are marked, so that a blank time is no gap. */
  readonly hasAllDay: boolean
  /** What else could be the end. */
  readonly rest: readonly Column[]
}

function finishLine({ starts, ends, more, isDays, hasAllDay, rest }: End): Line {
  const key = 'Finish'
  const others = rest.filter(({ name }) => momentRole(name) !== 'other')
  if (ends.length === 0 && isDays && others.length === 0) {
    return { key, value: '{ lasting: day }', evidence: 'the starts are days, and no column is the end' }
  }
  if (ends.length === 0) return openFinish(others)
  const known = countOf(textsOf(ends, hasAllDay), (text) => ends !== starts || hasRange(text))
  const blank = countOf(textsOf(starts, hasAllDay), () => true) - known
  if (blank <= 0) return { key, value: sourceOf(ends, ...more), evidence: evidenceOf(ends, hasAllDay) }
  const lasting = isDays ? 'day' : OPEN
  const rows = blank === 1 ? '1 row has' : `${counted(blank)} rows have`
  const effect = isDays
    ? ' day: such an event lasts one day'
    : ' time. How long do these events last? For example 2h30m.'
  return {
    key,
    value: sourceOf(ends, `whenBlank: { lasting: ${lasting} }`, ...more),
    evidence: `${rows} no end${effect}`,
  }
}

function openStart(columns: readonly Column[]): Line {
  const day = columns.find(({ kind }) => kind === 'date' || kind === 'worded-date')
  const time = columns.find(({ name, kind }) => (kind === 'time' || kind === 'text') && momentRole(name) !== 'finish')
  const two =
    day === undefined || time === undefined
      ? ''
      : ` If its date and time are in two columns, name both, such as ${sourceOf([day, time])}.`
  const evidence = `Which column is the start of events${among(columns)}? Name it here.${two}`
  return { key: 'Start', value: OPEN, evidence }
}

function openFinish(columns: readonly Column[]): Line {
  const evidence =
    columns.length === 0
      ? 'No column is the end of events. How long do events last? For example 2h30m.'
      : `It is unclear which column is the end of events${among(columns)}. Name it instead of { … }, or how long events last, for example 2h30m.`
  return { key: 'Finish', value: `{ lasting: ${OPEN} }`, evidence }
}

function among(columns: readonly Column[]): string {
  return columns.length === 0 ? '' : ` (${columns.map(({ name }) => name).join(', ')})`
}

/** The texts of a date-time, or of a day and a time joined as they will be read. @param hasDays whether times may lack */
function textsOf(columns: readonly Column[], hasDays = false): readonly CountedText[] {
  const [first, second] = columns
  if (first === undefined) return []
  if (second === undefined) return first.texts
  const joined = first.cells.flatMap((cell, row) => {
    const time = second.cells[row]?.text
    if (cell === null || (time === undefined && !hasDays)) return []
    return [time === undefined ? cell.text : dayWithTime(cell.text, time)]
  })
  return countedTexts(joined)
}

function readsOf(columns: readonly Column[], hasDays = false): number {
  const texts = textsOf(columns, hasDays)
  return countOf(texts, readIn(texts))
}

function readIn(texts: readonly CountedText[]): (text: string) => boolean {
  const formats = formatsOf(texts)
  return (text) => secondsIn(text, formats) !== null
}

/** Returns true if most ends are not before their starts, in rows where both can be read; for days, the day may be one. */
function isAfter(starts: readonly Column[], ends: readonly Column[]): boolean {
  const formats = formatsOf([...textsOf(starts), ...textsOf(ends)])
  const secondsOf = (columns: readonly Column[], row: number): number | null => {
    const cells = columns.map(({ cells: all }) => all[row]?.text ?? '')
    const [day = '', time] = cells
    if (cells.includes('')) return null
    return secondsIn(time === undefined ? day : dayWithTime(day, time), formats)
  }
  const isDay = ends.length === 1 && ends[0]?.kind === 'date'
  const rows = starts[0]?.cells.keys() ?? []
  let [known, after] = [0, 0]
  for (const row of rows) {
    const [start, end] = [secondsOf(starts, row), secondsOf(ends, row)]
    if (start === null || end === null) continue
    known++
    if (end > start || (isDay && end + DAY_SECONDS > start)) after++
  }
  return isMost(after, known)
}

const DAY_SECONDS = 86_400

/** Counts the rows that can be read, and tells blank cells apart. */
function evidenceOf(columns: readonly Column[], hasDays: boolean): string {
  const texts = textsOf(columns, hasDays)
  const isRead = readIn(texts)
  const fit = countOf(texts, isRead)
  const [first] = columns
  const all = first?.kind === 'date' ? [...texts, ...first.texts] : texts
  const odd = first?.kind === 'worded-date' ? undefined : all.find(({ text }) => !isRead(text))
  const [held, rows] = [countOf(texts, () => true), first?.cells.length ?? 0]
  const blank = held === rows ? '' : ` of ${counted(rows)} rows`
  return `${counted(fit)} of ${counted(held)} ${fit === 1 ? 'fits' : 'fit'}${blank === '' ? '' : `, ${counted(held)}${blank} have a value`}; ${example({ texts })}${odd === undefined ? '' : `; does not fit: ${odd.text.slice(0, 40)}`}`
}

/** Proposes the formats of dates. Days that may be meant otherwise are a question. */
function formatsLine(starts: readonly Column[], ends: readonly Column[], moments: readonly CountedText[]): Line | null {
  const key = 'dates'
  const worded = starts.find(({ kind }) => kind === 'worded-date')
  if (worded !== undefined) {
    const [day, format] = hasClock(worded) ? ['2027-03-05 19:30', 'YYYY-MM-DD hh:mm'] : ['2027-03-05', 'YYYY-MM-DD']
    const evidence = `${worded.name} has the month in words (${example(worded)}), which Marquee cannot read. Write such dates as ${day} in the file, and [${format}] here.`
    return { key, value: OPEN, evidence }
  }
  const [only, other] = starts
  const isDays = only?.kind === 'date' && other === undefined
  const texts = isDays ? moments : moments.filter(({ text }) => parseDateTimeText(text) === null)
  const { written, swapped } = formatsOf(texts, isDays)
  if (swapped.length > 0) {
    return {
      key,
      value: OPEN,
      evidence: `The dates fit both ${listOf(written)} and ${listOf(swapped)}. Which is right?`,
    }
  }
  if (isDays && ends.length === 0) {
    const evidence = `${only.name} has no time. Write ${listOf(written)} if the events are for whole days, or join a column of times in Start.`
    return { key, value: OPEN, evidence }
  }
  return written.length === 0 ? null : { key, value: listed(written), evidence: 'fits the dates' }
}

/** The list to write as the answer; a comma within a format needs quotes. */
function listOf(formats: readonly string[]): string {
  return `[${formats.map((format) => (/[,[\]{}]/.test(format) ? quoted(format) : format)).join(', ')}]`
}
