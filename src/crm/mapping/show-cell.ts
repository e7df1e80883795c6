import type { Cell } from './cell.ts'
import { isList, NumberText } from './cell.ts'

const LONGEST = 80

/** A cell as a person is shown it: as JSON, cut to 80 characters, however large or deep it is. */
export function showCell(cell: Cell): string {
  return write(cell, LONGEST)
}

/** Every level writes a character before it goes deeper, so `room` bounds the depth too. */
function write(cell: Cell, room: number): string {
  if (cell === null || typeof cell === 'boolean' || typeof cell === 'number') return String(cell)
  if (cell instanceof NumberText) return cut(cell.source, room)
  if (typeof cell === 'string') return cut(JSON.stringify(cell.slice(0, room)) + (cell.length > room ? '…' : ''), room)
  if (isList(cell)) return writeItems('[', cell, ']', room, (item, left) => write(item, left))
  return writeItems('{', Object.entries(cell), '}', room, ([name, value], left) => {
    const key = `${JSON.stringify(name.slice(0, left))}:`
    return key + write(value, Math.max(0, left - key.length))
  })
}

function writeItems<Item>(
  open: string,
  items: readonly Item[],
  close: string,
  room: number,
  writeItem: (item: Item, room: number) => string,
): string {
  let text = open
  for (const item of items) {
    if (text.length >= room) break
    if (text !== open) text += ','
    text += writeItem(item, room - text.length)
  }
  return cut(text + close, room)
}

function cut(text: string, room: number): string {
  if (text.length <= room) return text
  const end = Math.max(0, room - 1)
  // Half a surrogate pair is no character.
  const code = text.charCodeAt(end - 1)
  return `${text.slice(0, code >= 0xd800 && code <= 0xdbff ? end - 1 : end)}…`
}
