import type { Cell } from '../cells/cell.ts'

/**
 * Parses an array in PostgreSQL's text form, for example `{a,"b c",NULL}`; nested arrays become nested lists
 * (documentation, 8.15.6). Returns `null` if the text is not an array. With `postgres-array`, which pg installs, a full
 * read takes 9 to 16 % more processor time (Bun, 50,000 rows with two tags), and any text counts as an array.
 */
export function parseArray(text: string): readonly Cell[] | null {
  // Lower bounds other than 1 come first: `[0:1]={a,b}`.
  const start = text.startsWith('[') ? text.indexOf('=') + 1 : 0
  const parser = { text, at: start }
  const list = readList(parser, 0)
  return list !== null && parser.at === text.length ? list : null
}

interface Parser {
  readonly text: string
  at: number
}

/** PostgreSQL has at most six dimensions. */
const DEEPEST = 6

function readList(parser: Parser, depth: number): Cell[] | null {
  if (parser.text[parser.at] !== '{' || depth === DEEPEST) return null
  parser.at++
  const list: Cell[] = []
  if (parser.text[parser.at] === '}') {
    parser.at++
    return list
  }
  for (;;) {
    const item = readItem(parser, depth)
    if (item === undefined) return null
    list.push(item)
    const next = parser.text[parser.at++]
    if (next === '}') return list
    if (next !== ',') return null
  }
}

function readItem(parser: Parser, depth: number): Cell | undefined {
  const first = parser.text[parser.at]
  if (first === '{') return readList(parser, depth + 1) ?? undefined
  if (first === '"') return readQuoted(parser)
  const end = endOfBare(parser)
  const bare = parser.text.slice(parser.at, end)
  parser.at = end
  return bare === 'NULL' ? null : bare
}

function readQuoted(parser: Parser): string | undefined {
  let item = ''
  let from = ++parser.at
  for (; parser.at < parser.text.length; parser.at++) {
    const character = parser.text[parser.at]
    if (character !== '"' && character !== '\\') continue
    item += parser.text.slice(from, parser.at)
    from = parser.at + 1
    if (character === '"') {
      parser.at++
      return item
    }
    parser.at++
  }
  return undefined
}

function endOfBare({ text, at }: Parser): number {
  let end = at
  while (end < text.length && text[end] !== ',' && text[end] !== '}') end++
  return end
}
