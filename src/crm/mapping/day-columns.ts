import type { DateFormat } from '../../domain/date-format.ts'
import { columnCell } from './column-cell.ts'
import { dayPart } from '../../domain/date-parts.ts'
import { type DateRules, dateRules, finishRules } from './dates.ts'
import { type ListSetting, sourceNamed } from './list-setting.ts'
import { type Cell, type RowAccess, isBlank } from '../cells/cell.ts'

/** The dates of events whose columns are at midnight in every row: columns of days, though no format says so. */
export type DayColumns = ReadonlySet<'Start' | 'Finish'>

const DAY_SECONDS = 86_400

/** Looks for columns of days in the rows of a file, until each of the two columns has had a time. */
export class DayColumnSearch {
  readonly #setting: ListSetting
  readonly #rules: DateRules
  readonly #open: Set<'Start' | 'Finish'>
  readonly #atMidnight = new Set<'Start' | 'Finish'>()
  /** Whether every row so far ends at the midnight after its Start, as evenings do. */
  #areEvenings = true

  constructor(setting: ListSetting, formats: readonly DateFormat[]) {
    this.#setting = setting
    this.#rules = dateRules(formats)
    const names = ['Start', 'Finish'] as const
    this.#open = new Set(names.filter((name) => sourceNamed(setting.fields, name)?.kind === 'column'))
  }

  get isOver(): boolean {
    return this.#open.size === 0
  }

  get found(): DayColumns {
    const isEvening = this.#areEvenings && !this.#open.has('Start')
    return new Set([...this.#open].filter((name) => this.#atMidnight.has(name) && (name === 'Start' || !isEvening)))
  }

  /** Returns a function that looks at a row. */
  through<Row>(access: RowAccess<Row>): (row: Row) => void {
    const [start, finish] = (['Start', 'Finish'] as const).map((name) => {
      const source = sourceNamed(this.#setting.fields, name)
      const cell = source?.kind === 'column' ? columnCell(source, access) : (): Cell => null
      return { name, cell, rules: name === 'Finish' ? finishRules(this.#rules) : this.#rules }
    })
    if (start === undefined || finish === undefined) return () => {}
    return (row) => {
      const cells = [start.cell(row), finish.cell(row)] as const
      if (this.#open.has('Finish')) this.#areEvenings &&= lastsUntilMidnight(cells, this.#rules)
      for (const [index, { name, rules }] of [start, finish].entries()) {
        if (!this.#open.has(name)) continue
        const kind = kindOf(cells[index] ?? null, rules)
        if (kind === 'midnight') this.#atMidnight.add(name)
        if (kind === 'time') this.#open.delete(name)
      }
    }
  }
}

/** What a cell says of its column. A blank one and one that cannot be read say nothing, nor does a day without a time. */
function kindOf(cell: Cell, rules: DateRules): 'midnight' | 'time' | null {
  if (typeof cell !== 'string') return cell === null ? null : 'time'
  if (isBlank(cell)) return null
  const parsed = rules.parse(cell)
  if (parsed === null || parsed.kind === 'day') return null
  const isMidnight = dayPart(cell) !== cell || (parsed.kind === 'wall' && parsed.wall.seconds % DAY_SECONDS === 0)
  return isMidnight ? 'midnight' : 'time'
}

function lastsUntilMidnight([start, finish]: readonly [Cell, Cell], rules: DateRules): boolean {
  if (typeof start !== 'string' || typeof finish !== 'string') return true
  const [begins, ends] = [rules.parse(start), rules.parse(finish)]
  if (begins?.kind !== 'wall' || ends?.kind !== 'wall') return begins === null || ends === null
  const seconds = ends.wall.seconds - begins.wall.seconds
  return seconds > 0 && seconds < DAY_SECONDS
}
