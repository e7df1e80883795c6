import type { Extended, FurtherField, FurtherType, FurtherValue } from '../domain/further.ts'
import { unreachable } from '../domain/unreachable.ts'
import { type OwnPacking, type Packing, packText, SEPARATOR, Texts, unpackText } from './packing.ts'

/**
 * Packs records with further fields, whose values follow the record's own, one text each. Returns `packing` itself if
 * none is declared.
 */
export function withFurther<Item extends Extended>(
  packing: OwnPacking<Item>,
  fields: readonly FurtherField[],
): Packing<Item> {
  const types = fields.map(({ type }) => type)
  if (types.length === 0) return packing
  return {
    pack(record) {
      let packed = packing.pack(record)
      for (let index = 0; index < types.length; index++)
        packed += SEPARATOR + packText(textOf(record.Further?.[index] ?? null))
      return packed
    },
    unpack(id, packed) {
      const texts = new Texts(packed, types.length)
      const own = packing.read(id, texts)
      const Further: FurtherValue[] = []
      for (const type of types) Further.push(valueOf(texts.next(), type))
      return { ...own, Further }
    },
  }
}

/** Each text of a list ends with a separator, so that no text and an empty one differ. */
function textOf(value: FurtherValue): string | null {
  if (value === null || typeof value === 'string') return value
  if (typeof value !== 'object') return String(value)
  let texts = ''
  for (const text of value) texts += packText(text) + SEPARATOR
  return texts
}

function valueOf(text: string | null, type: FurtherType): FurtherValue {
  if (text === null) return null
  switch (type) {
    case 'text':
    case 'decimal':
    case 'date-time':
      return text
    case 'integer':
      return Number(text)
    case 'flag':
      return text === 'true'
    case 'texts':
      return text
        .split(SEPARATOR)
        .slice(0, -1)
        .map((each) => unpackText(each) ?? '')
    default:
      return unreachable(type)
  }
}
