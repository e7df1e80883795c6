import { type SaxesAttributeNS, type SaxesTagNS, SaxesParser } from 'saxes'
import { type Cell, isList, isObject, sourceDigits } from '../crm/cells/cell.ts'
import { parseShallow } from '../crm/cells/parse-cell.ts'
import { EVENTS } from '../domain/event.ts'
import { VENUES } from '../domain/venue.ts'

export interface Leaf {
  readonly kind: 'null' | 'boolean' | 'text' | 'number'
  readonly text: string
}

/** The values of a body. Texts are decoded; numbers keep the digits of the source. */
export type BodyTree =
  | Leaf
  /** `isElement`: all elements of one name within another element, even if there is only one. */
  | { readonly kind: 'list'; readonly items: readonly BodyTree[]; readonly isElement: boolean }
  /** `order` has the names in the order of the source; `isOrdered`: the order has a meaning, as that of elements has. */
  | {
      readonly kind: 'map'
      readonly entries: ReadonlyMap<string, BodyTree>
      readonly order: readonly string[]
      readonly isOrdered: boolean
    }

/** How a body is written, as far as its values do not show it: for each kind of form, what two bodies may differ in. */
type Forms = Readonly<Record<string, string>>

export type ParsedBody = { readonly tree: BodyTree; readonly forms: Forms } | { readonly problem: string }

export function parseJson(text: string): ParsedBody {
  const parsed = parseShallow(text)
  if (!parsed.ok) return { problem: parsed.reason === 'depth' ? 'nested too deeply' : `not JSON at ${parsed.offset}` }
  const escapes = text.match(/\\(?:u[\da-f]{4}|.)/gi) ?? []
  const bare = text.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""')
  return {
    tree: treeOfCell(parsed.cell),
    forms: { 'white space': spacesIn(JSON_SPACE, bare), escapes: escapes.toSorted().join(' ') },
  }
}

/** Where white space can stand without a meaning. Whether it does is the same for all values. */
const JSON_SPACE = [/^\s|\s$/, /\s:/, /:\s/, /\s,/, /,\s/, /[[{]\s/, /\s[\]}]/]
const SPACE_BETWEEN = [/^\s|\s$/, />\s+</]
const SPACE_IN_TAGS = [/\S\/>/, /\s\s\/>/, /["\w]\s+>/, /=\s/, /\s=/, /\s\s+\w/]

function spacesIn(places: readonly RegExp[], text: string): string {
  return places.map((place) => (place.test(text) ? '1' : '0')).join('')
}

function treeOfCell(cell: Cell): BodyTree {
  const digits = sourceDigits(cell)
  if (digits !== null) return { kind: 'number', text: digits }
  if (isList(cell)) return { kind: 'list', items: cell.map(treeOfCell), isElement: false }
  if (typeof cell === 'string') return { kind: 'text', text: cell }
  if (!isObject(cell)) return { kind: cell === null ? 'null' : 'boolean', text: JSON.stringify(cell) }
  const entries = new Map(Object.entries(cell).map(([name, value]) => [name, treeOfCell(value)]))
  return { kind: 'map', entries, order: [...entries.keys()], isOrdered: false }
}

/** Entries that have no path of their own: the text directly in an element, and the name of the root. */
export const OF_THE_ELEMENT: ReadonlySet<string> = new Set(['#text', '#name'])
/** The namespace of an element whose parent has another. */
const NAMESPACE = 'xmlns'
const INSTANCE = 'http://www.w3.org/2001/XMLSchema-instance'
const NUMERIC: ReadonlySet<string> = new Set(
  [...EVENTS.fields, ...VENUES.fields]
    .filter(({ type }) => type === 'int32' || type === 'decimal')
    .map(({ name }) => name),
)

interface OpenElement {
  readonly tag: SaxesTagNS
  readonly children: (readonly [name: string, tree: BodyTree])[]
  text: string
}

/** Characters that XML 1.0 cannot carry, raw or as references (XML 1.0 §2.2). */
const NOT_CARRIED =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|&#x(?:[0-8bcef]|1[\da-f]|fff[ef]|d[89a-f][\da-f]{2});/gi

/** Returns the text with U+FFFD for each character that XML cannot carry. */
export function withCarried(text: string): string {
  return text.replaceAll(NOT_CARRIED, '\ufffd')
}

export function parseXml(text: string): ParsedBody {
  const around: OpenElement[] = []
  const names: string[] = []
  const attributes: string[] = []
  let root: BodyTree | null = null
  let problem = ''
  let asides = 0
  const parser = new SaxesParser({ xmlns: true })
  parser.on('error', ({ message }) => {
    problem ||= `not XML at ${message.replace(/^\D*/, '')}`
  })
  const add = (piece: string): void => {
    const inside = around.at(-1)
    if (inside !== undefined) inside.text += piece
  }
  parser.on('text', add)
  parser.on('cdata', add)
  parser.on('comment', () => asides++)
  parser.on('processinginstruction', () => asides++)
  parser.on('opentag', (tag) => {
    const all = Object.values(tag.attributes)
    names.push(tag.name, ...all.filter(isDeclaration).map(({ name, value }) => `${name}=${value}`))
    attributes.push(all.map((one) => (isDeclaration(one) ? one.value : `@${one.local}`)).join(' '))
    around.push({ tag, children: [], text: '' })
  })
  parser.on('closetag', () => {
    const element = around.pop()
    if (element === undefined) return
    const parent = around.at(-1)
    const tree = treeOfElement(element, parent?.tag ?? null)
    if (parent === undefined) root = tree
    else parent.children.push([element.tag.local, tree])
  })
  parser.write(text).close()
  if (problem !== '' || root === null) return { problem: problem === '' ? 'not XML: it is empty' : problem }
  const body = text.replace(/^<\?xml[^>]*\?>\s*/, '')
  const tags = (body.match(/<[^>]*>/g) ?? []).join('')
  return {
    tree: root,
    forms: {
      'XML declaration': body === text ? 'none' : 'one',
      'namespace prefixes': names.toSorted().join(' '),
      'order of attributes': attributes.join('\n'),
      'empty elements': (text.match(/\/>|<([^\s/>]+)[^>]*><\/\1>/g) ?? []).map((form) => form.slice(-2, -1)).join(''),
      comments: String(asides),
      escapes: (text.match(/&[^;]+;|<!\[CDATA\[/g) ?? []).join(''),
      'white space': spacesIn(SPACE_BETWEEN, body) + spacesIn(SPACE_IN_TAGS, tags),
    },
  }
}

function isDeclaration({ name }: SaxesAttributeNS): boolean {
  return name === 'xmlns' || name.startsWith('xmlns:')
}

function treeOfElement({ tag, children, text }: OpenElement, parent: SaxesTagNS | null): BodyTree {
  const entries = new Map<string, BodyTree>()
  let isNil = false
  if (parent === null) entries.set('#name', { kind: 'text', text: tag.local })
  if (tag.uri !== (parent?.uri ?? '')) entries.set(NAMESPACE, { kind: 'text', text: tag.uri })
  for (const attribute of Object.values(tag.attributes)) {
    if (isDeclaration(attribute)) continue
    const { uri, local, value } = attribute
    if (uri === INSTANCE && local === 'nil' && /^(?:true|1)$/.test(value)) isNil = true
    else entries.set(`@${local}`, { kind: 'text', text: value })
  }
  // White space between elements is layout.
  const own: Leaf | null = children.length > 0 && text.trim() === '' ? null : leafOf(tag.local, text, isNil)
  if (entries.size === 0 && children.length === 0 && own !== null) return own
  const grouped = Map.groupBy(children, ([name]) => name)
  for (const [name, found] of grouped) {
    entries.set(name, { kind: 'list', items: found.map(([, tree]) => tree), isElement: true })
  }
  if (own !== null && (own.text !== '' || isNil)) entries.set('#text', own)
  return { kind: 'map', entries, order: children.map(([name]) => name), isOrdered: true }
}

function leafOf(name: string, text: string, isNil: boolean): Leaf {
  if (isNil) return { kind: 'null', text: 'null' }
  return { kind: NUMERIC.has(name) && /^-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?$/.test(text) ? 'number' : 'text', text }
}
