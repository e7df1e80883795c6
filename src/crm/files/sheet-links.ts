import type { SaxesTagPlain } from 'saxes'
import { isWebAddress } from '../../domain/field.ts'
import { PartParser } from './part-parser.ts'
import { MOST_ROWS, columnOf } from './sheet-parser.ts'

/** Consecutive rows with the same link in one column. */
export interface LinkedRows {
  readonly first: number
  readonly last: number
  readonly address: string
}

/** Collects the web addresses that a sheet refers to, by relationship id. */
export function targetsParser(targets: Map<string, string>): PartParser {
  return new PartParser((name, { Id = '', Type = '', Target = '' }) => {
    if (name === 'Relationship' && Type.endsWith('/hyperlink') && isWebAddress(Target)) targets.set(Id, Target)
  })
}

/** Finds the links of one column; a sheet lists them after its rows. */
export function linksParser(
  targets: ReadonlyMap<string, string>,
  column: number,
  onLink: (found: LinkedRows) => void,
): PartParser {
  return new PartParser((name, attributes) => {
    if (name !== 'hyperlink') return
    const target = targets.get(relationIn(attributes) ?? '')
    // One link may span several cells.
    const [from = '', to = from] = (attributes['ref'] ?? '').split(':', 2)
    if (target === undefined || column < (columnOf(from) ?? 0) || column > (columnOf(to) ?? -1)) return
    const { location = '' } = attributes
    const address = location === '' || target.includes('#') ? target : `${target}#${location}`
    onLink({ first: rowOf(from), last: Math.min(rowOf(to), MOST_ROWS), address })
  })
}

/** Returns the id of the relationship that an element refers to: the value of its `r:id` attribute. */
export function relationIn(attributes: SaxesTagPlain['attributes']): string | undefined {
  return Object.entries(attributes).find(([key]) => /(?:^|:)id$/.test(key))?.[1]
}

function rowOf(place: string): number {
  return Number(/\d+$/.exec(place)?.[0] ?? MOST_ROWS + 1)
}
