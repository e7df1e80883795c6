import { type BodyTree, OF_THE_ELEMENT } from './body-tree.ts'

/** What a comparison can end in, the best first. */
export const CLASSES = ['sameBytes', 'sameMeaning', 'intended', 'changing', 'different'] as const

export type Class = (typeof CLASSES)[number]

/** One way in which two answers differ. */
export interface Difference {
  readonly class: Class
  /** The kind of difference, in a few words. */
  readonly what: string
  /** A path within the body (`/Tags/2`), `status`, or a header's name. */
  readonly at: string
  /** What the old service answers there, and what Marquee answers; `null` if there is nothing. */
  readonly old: string | null
  readonly new: string | null
}

/** One value of both bodies, side by side; `what` is null if it is the same. */
export type ValuePair = Omit<Difference, 'class' | 'what'> & { readonly class: Class; readonly what: string | null }

/** Names the departure that a difference comes from (contract §3.3); `null` if it is none. */
export type NameDeparture = (at: string, old: BodyTree | null, fresh: BodyTree | null) => string | null

/** Compares two bodies value by value, and returns all values side by side. */
export function rowsOf(old: BodyTree, fresh: BodyTree, departure: NameDeparture): readonly ValuePair[] {
  const rows: ValuePair[] = []
  const add = (at: string, was: BodyTree | null, is: BodyTree | null, found: Judged): void => {
    const name = found === null ? null : departure(at, was, is)
    const judged = name === null ? found : ({ class: 'intended', what: name } as const)
    rows.push({ ...(judged ?? SAME), at: at === '' ? '/' : at, old: was && shown(was), new: is && shown(is) })
  }
  const walk = (at: string, one: BodyTree | null, other: BodyTree | null): void => {
    const [was, is] = [elementLike(one, other), elementLike(other, one)]
    if (was === null || is === null) {
      const there = was ?? is
      // A list that is missing as a whole is missing item by item if its items are elements.
      if (there?.kind === 'list' && there.isElement) {
        for (const item of there.items) add(at, was && item, is && item, was === null ? ADDED : MISSING)
      } else add(at, was, is, was === null ? ADDED : MISSING)
    } else if (was.kind === 'map' && is.kind === 'map') {
      for (const name of new Set([...was.entries.keys(), ...is.entries.keys()])) {
        const below = OF_THE_ELEMENT.has(name) ? at : `${at}/${pointer(name)}`
        walk(below, was.entries.get(name) ?? null, is.entries.get(name) ?? null)
      }
      if (!isSameOrder(was.order, is.order)) {
        const judged = was.isOrdered ? ANOTHER_ORDER : ORDER_OF_MEMBERS
        rows.push({ ...judged, at: at === '' ? '/' : at, old: was.order.join(' '), new: is.order.join(' ') })
      }
    } else if (was.kind === 'list' && is.kind === 'list') {
      if (was.items.length + is.items.length === 0) add(at, was, is, null)
      const isOnly = was.isElement && was.items.length === 1 && is.items.length === 1
      for (const [index, left, right] of paired(was.items, is.items)) walk(isOnly ? at : `${at}/${index}`, left, right)
    } else add(at, was, is, scalarFound(was, is))
  }
  walk('', old, fresh)
  return rows
}

type Judged = { readonly class: Class; readonly what: string } | null

export const SAME = { class: 'sameBytes', what: null } as const
const MISSING = { class: 'different', what: 'missing here' } as const
const ADDED = { class: 'different', what: 'only here' } as const
const ANOTHER_ORDER = { class: 'different', what: 'another order of elements' } as const
const ORDER_OF_MEMBERS = { class: 'sameMeaning', what: 'order of members' } as const

/** Returns an empty element as one without children if the other has children. */
function elementLike(tree: BodyTree | null, other: BodyTree | null): BodyTree | null {
  const isEmpty = tree?.kind === 'text' && tree.text === '' && other?.kind === 'map' && other.isOrdered
  return isEmpty ? { kind: 'map', entries: new Map(), order: [], isOrdered: true } : tree
}

function pointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** Whether the names that both have come in the same order. */
function isSameOrder(old: readonly string[], fresh: readonly string[]): boolean {
  const both = new Set(old.filter((name) => fresh.includes(name)))
  const [one, other] = [old, fresh].map((names) => [...new Set(names)].filter((name) => both.has(name)).join('\n'))
  return one === other
}

/** Pairs the items of two lists, so that a missing item is one difference and does not shift those after it. */
function* paired(
  old: readonly BodyTree[],
  fresh: readonly BodyTree[],
): Generator<[number, BodyTree | null, BodyTree | null]> {
  const [oldKeys, freshKeys] = [old.map(keyOf), fresh.map(keyOf)]
  const least = Math.min(old.length, fresh.length)
  let before = 0
  while (before < least && oldKeys[before] === freshKeys[before]) before++
  let after = 0
  while (after < least - before && oldKeys.at(-1 - after) === freshKeys.at(-1 - after)) after++
  const [one, other] = [old, fresh].map((items) => items.slice(0, items.length - after))
  const middle = Math.max(old.length, fresh.length) - after
  for (let index = 0; index < middle; index++) yield [index, one?.[index] ?? null, other?.[index] ?? null]
  for (let left = after; left > 0; left--) yield [old.length - left, old.at(-left) ?? null, fresh.at(-left) ?? null]
}

/** What an item is recognized by: of a link its relation and address, whatever its title is. */
function keyOf(tree: BodyTree): string {
  if (tree.kind === 'list') return `[${tree.items.map(keyOf).join()}]`
  if (tree.kind !== 'map') return JSON.stringify(tree.kind === 'number' ? numberValue(tree.text) : tree.text)
  const entries = [...tree.entries].filter(([name]) => !/title|templated|^xmlns$/i.test(name))
  return `{${entries
    .map(([name, value]) => `${name}:${keyOf(value).replace('"~/', '"/')}`)
    .toSorted()
    .join()}}`
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d|^\d{1,2}\/\d{1,2}\/\d{4} \d{1,2}:\d\d:\d\d [AP]M$/

function scalarFound(old: BodyTree, fresh: BodyTree): Judged {
  if (!('text' in old && 'text' in fresh)) return { class: 'different', what: 'another type' }
  if (old.kind !== fresh.kind) {
    if (fresh.kind === 'null') return { class: 'different', what: 'null here' }
    return { class: 'different', what: old.kind === 'null' ? 'null in the old service' : 'another type' }
  }
  if (old.text === fresh.text) return null
  if (old.kind === 'number') {
    if (numberValue(old.text) === numberValue(fresh.text)) return { class: 'sameMeaning', what: "number's zeros" }
    const [one, other] = [Number(old.text), Number(fresh.text)]
    const isNoise = Math.abs(one - other) <= Math.abs(other) * 1e-7
    return { class: 'different', what: isNoise ? 'rounded as a float' : 'another number' }
  }
  if (!TIME.test(old.text) || !TIME.test(fresh.text)) return { class: 'different', what: 'another text' }
  const [one, other] = [old, fresh].map(({ text }) => text.replace(/(?:Z|[-+]\d\d:\d\d)$/, ''))
  const isOffset = old.text.includes('T') && (one === other || Date.parse(old.text) === Date.parse(fresh.text))
  return { class: 'different', what: isOffset ? 'another offset' : 'another time' }
}

/** Returns the same text for all ways to write one number. */
function numberValue(source: string): string {
  const [, sign = '', whole = '', fraction = '', power = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/.exec(source) ?? []
  const digits = (whole + fraction).replace(/^0+/, '')
  const significant = digits.replace(/0+$/, '')
  const exponent = Number(power) - fraction.length + digits.length - significant.length
  return significant === '' ? '0' : `${sign}${significant}e${exponent}`
}

export const LONGEST_SHOWN = 200

function shown(tree: BodyTree): string {
  const text = wholeText(tree)
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN - 1)}…` : text
}

function wholeText(tree: BodyTree): string {
  if (tree.kind === 'list') return `[${tree.items.map(wholeText).join(', ')}]`
  if (tree.kind === 'map')
    return `{${Array.from(tree.entries, ([name, inner]) => `${name}: ${wholeText(inner)}`).join(', ')}}`
  return tree.kind === 'text' ? JSON.stringify(tree.text) : tree.text
}
