import {
  type Field,
  type FieldType,
  type FieldValue,
  type RecordTable,
  type Link,
  blankRecord,
} from '../domain/field.ts'
import type { Extended, FurtherField, FurtherType, FurtherValue } from '../domain/further.ts'
import type { Guid } from '../domain/guid.ts'

/** Packs one kind of record as a single well-formed text: `unpack(id, pack(record))` equals the record. */
export interface Packing<Item> {
  pack(record: Item): string
  unpack(id: Guid, packed: string): Item
}

// A packed record is its fields in the table's order without the id, then its further fields, then its links, joined by
// DEL, which JSON need not escape. A DEL or escape within a text is escaped; null is the escape alone.
const SEPARATOR = '\u007f'
const ESCAPE = '\u0080'
const TO_ESCAPE = /[\u007f\u0080]/
const ESCAPED = /\u0080[ab]/
const NULL = ESCAPE

/** Reads the values of each type from a packed record. */
const READERS: Readonly<Record<FieldType | FurtherType, (texts: Texts) => FieldValue | FurtherValue>> = {
  guid: (texts) => texts.next(),
  text: (texts) => texts.text(),
  url: (texts) => texts.text(),
  decimal: (texts) => texts.next(),
  'date-time': (texts) => texts.next(),
  int32: (texts) => texts.number(),
  integer: (texts) => texts.number(),
  flag: (texts) => texts.next() === 'true',
  tags: (texts) => texts.list(),
  texts: (texts) => texts.list(),
}

type OwnName<Item> = Exclude<keyof Item, 'Links' | 'Further'>

/** The table of the fields of one kind of record. */
export type TableOf<Item> = RecordTable<readonly (Field & { readonly name: OwnName<Item> })[]>

export type Packable<Item> = Readonly<Record<OwnName<Item>, FieldValue>> &
  Extended & { readonly Links: readonly Link[] }

/** Returns the packing of a table's records with the given further fields, each of which may be null. */
export function packingOf<Item extends Packable<Item>>(
  { fields }: TableOf<Item>,
  further: readonly FurtherField[],
): Packing<Item> {
  const blank = blankRecord(fields, further.length > 0)
  const own = fields.flatMap(({ name, type }) => (name === 'Id' ? [] : [{ name, read: READERS[type] }]))
  const others = further.map(({ type }) => READERS[type])
  return {
    pack(record) {
      const texts: string[] = []
      for (const { name } of own) pack(record[name], texts)
      for (let index = 0; index < others.length; index++) pack(record.Further?.[index] ?? null, texts)
      for (const { Rel, Href, Title } of record.Links) texts.push(packText(Rel), packText(Href), packText(Title))
      // A lone surrogate becomes U+FFFD in every format (contract §3.2).
      return texts.join(SEPARATOR).toWellFormed()
    },
    unpack(id, packed) {
      const texts = new Texts(packed)
      const record: Record<string, unknown> = { ...blank, Id: id }
      for (const { name, read } of own) record[name] = read(texts)
      if (others.length > 0) record['Further'] = others.map((read) => (texts.isNull() ? null : read(texts)))
      record['Links'] = texts.links()
      // oxlint-disable-next-line typescript/consistent-type-assertions, typescript/no-unsafe-type-assertion -- each field has got the value of its type
      return record as Item
    },
  }
}

/** Adds the texts of a value: one, or for several texts their number and each of them. */
function pack(value: FieldValue | FurtherValue, texts: string[]): void {
  if (typeof value === 'string' || value === null) texts.push(packText(value))
  else if (typeof value !== 'object') texts.push(String(value))
  else {
    texts.push(String(value.length))
    for (const text of value) texts.push(packText(text))
  }
}

function packText(text: string | null): string {
  if (text === null) return NULL
  return TO_ESCAPE.test(text) ? text.replaceAll(ESCAPE, `${ESCAPE}b`).replaceAll(SEPARATOR, `${ESCAPE}a`) : text
}

/** Reads the texts of one packed record in order. */
class Texts {
  readonly #texts: readonly string[]
  readonly #escaped: boolean
  #position = 0

  constructor(packed: string) {
    this.#texts = packed.split(SEPARATOR)
    this.#escaped = packed.includes(ESCAPE) && ESCAPED.test(packed)
  }

  /** Returns the next text as it is packed: for values without escapes. */
  next(): string {
    const text = this.#texts[this.#position++]
    if (text === undefined) throw new Error('a packed record is cut short')
    return text
  }

  text(): string | null {
    const text = this.next()
    if (text === NULL) return null
    return this.#escaped ? text.replaceAll(`${ESCAPE}a`, SEPARATOR).replaceAll(`${ESCAPE}b`, ESCAPE) : text
  }

  number(): number {
    return Number(this.next())
  }

  list(): readonly string[] {
    const length = this.number()
    const items: string[] = []
    while (items.length < length) items.push(this.text() ?? '')
    return items
  }

  /** Returns true if the next text is null, and skips it. */
  isNull(): boolean {
    if (this.#texts[this.#position] !== NULL) return false
    this.#position++
    return true
  }

  /** Reads links up to the end. */
  links(): readonly Link[] {
    const links: Link[] = []
    while (this.#position < this.#texts.length) {
      links.push({ Rel: this.text() ?? '', Href: this.text() ?? '', Title: this.text() })
    }
    return links
  }
}
