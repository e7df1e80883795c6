import type { FurtherField, FurtherType, FurtherValue } from '../../domain/further.ts'
import { RowFault } from '../../domain/withheld.ts'
import { type Cell, type CellFault, type Reader, type RowAccess, isBlank } from '../cells/cell.ts'
import { toDecimal, toInt32, toText } from './conversions.ts'
import type { ListSetting, MappingContext } from './list-setting.ts'
import {
  cellReader,
  dateOriginOf,
  dateReader,
  differenceReader,
  nameOfColumn,
  originOf,
  sourceNamed,
} from './readers.ts'
import { textConversion } from './text-values.ts'
import { conversionsOf } from './written.ts'

type Convert = (cell: Cell) => FurtherValue | CellFault

/** Returns the readers of the further fields, in the order of their declaration (contract §7). */
export function furtherReadersOf<Row>(
  fields: readonly FurtherField[],
  setting: ListSetting,
  access: RowAccess<Row>,
  context: MappingContext,
): readonly Reader<Row, FurtherValue>[] {
  const { lists, texts = null, showIn, htmlText } = context
  const conversions = conversionsOf(lists, texts)
  return fields.map(({ name, type }) => {
    const source = sourceNamed(setting.fields, name)
    if (source === null) return () => null
    const origin = originOf(name, source, access)
    const read = (convert: Convert, plain = convert): Reader<Row, FurtherValue> =>
      cellReader(origin, nullIfBlank(convert), 'unreadable', nullIfBlank(plain))
    const readersByType: Readonly<Record<FurtherType, () => Reader<Row, FurtherValue>>> = {
      text: () => cellReader(origin, furtherText(textConversion(source, htmlText)), 'unreadable', furtherText(toText)),
      integer: () =>
        source.kind === 'subtract'
          ? differenceReader(source.columns, access, () => conversions.int32)
          : read(conversions.int32, toInt32),
      decimal: () => read(conversions.decimal, toDecimal),
      'date-time': () => {
        // The prefix keeps these notes apart from those on the contract's dates: a further field of one list may have
        // the name of a contract field of the other.
        const notes = context.suspicions.datesIn(`further ${name}`, nameOfColumn(name, source))
        return dateReader(dateOriginOf(name, source, access, context, notes), showIn, () => null)
      },
      flag: () => read(conversions.flag),
      texts: () => read(conversions.tags),
    }
    return readersByType[type]()
  })
}

/** Reads the further fields of a row, and stops at the first that cannot be read. */
export function furtherOf<Row>(
  readers: readonly Reader<Row, FurtherValue>[],
  row: Row,
): readonly FurtherValue[] | RowFault {
  const values: FurtherValue[] = []
  for (const read of readers) {
    const value = read(row)
    if (value instanceof RowFault) return value
    values.push(value)
  }
  return values
}

function nullIfBlank(convert: Convert): Convert {
  return (cell) => (isBlank(cell) ? null : convert(cell))
}

/** A text of blanks is null; an empty one that the CRM distinguishes from null stays empty (contract §7). */
function furtherText(convert: Convert): Convert {
  return (cell) => (cell !== '' && isBlank(cell) ? null : convert(cell))
}
