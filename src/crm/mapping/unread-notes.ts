import { statusPosition, statusSaid } from '../../domain/event-status.ts'
import { isYes } from '../../domain/flag-words.ts'
import type { FurtherField } from '../../domain/further.ts'
import { stateSaid } from '../../domain/state-words.ts'
import { soldOutSaid } from '../../domain/zero-words.ts'
import { type Cell, showCell, UNMAPPED } from '../cells/cell.ts'
import type { EventFacts, NameOf } from './suspicious-cells.ts'

/** What a cell says of its event. */
type Said = 'cancelled' | 'sold-out' | null

/** A column with more different texts has remarks or names, which take too long to understand. */
const MOST_TEXTS = 1000
const LONGEST = 100

/** Returns the function that looks for words such as `annulé` and `ausverkauft` in the columns that no field reads. */
export function unreadNotes(
  further: readonly FurtherField[],
  columns: readonly string[],
  nameOf: NameOf,
): EventFacts['unreadNotes'] {
  const statusAt = statusPosition(further)
  const read = new Set(columns.map((column) => column.split('.', 1)[0]))
  const said = new Map<string, Map<string, Said>>()
  const saidIn = (column: string, cell: Cell | undefined): Said => {
    if (typeof cell !== 'string' || cell.length > LONGEST) return null
    const texts = said.get(column) ?? new Map<string, Said>()
    said.set(column, texts)
    const known = texts.get(cell)
    if (known !== undefined || texts.size >= MOST_TEXTS) return known ?? null
    // A column may also be called so, and say yes.
    const found = saidBy(cell) ?? (isYes(cell) ? saidBy(column) : null)
    texts.set(cell, found)
    return found
  }
  return (record, row) => {
    const notes: ReturnType<EventFacts['unreadNotes']>[number][] = []
    const see = (column: string, cell: Cell | undefined): void => {
      const what = saidIn(column, cell)
      if (what === null || cell === undefined) return
      const status: unknown = statusAt === -1 ? null : record.Further?.[statusAt]
      const isServedSo = what === 'cancelled' ? isCancelled(status) : record.TicketsAvailable === 0
      if (isServedSo) return
      const of = what === 'sold-out' ? nameOf('TicketsAvailable') : ''
      notes.push({ column, code: `unread-${what}`, of, found: showCell(cell) })
    }
    const unread = row[UNMAPPED]
    if (unread === undefined) for (const column in row) if (!read.has(column)) see(column, row[column])
    if (unread !== undefined) for (const { column, place } of unread.columns) see(column, unread.cells[place])
    return notes
  }
}

function isCancelled(status: unknown): boolean {
  return typeof status === 'string' && statusSaid(status) === 'cancelled'
}

function saidBy(text: string): Said {
  if (stateSaid(text) === 'cancelled') return 'cancelled'
  return soldOutSaid(text) === null ? null : 'sold-out'
}
