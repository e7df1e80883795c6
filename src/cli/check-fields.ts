import type { Suspicions } from '../crm/mapping/suspicions.ts'
import { printable } from '../domain/printable.ts'

/** A field of a list and its source, as `check` prints it. */
type FieldFound = Suspicions['fields'][number]

export interface FieldReport extends FieldFound {
  readonly kind: 'event' | 'venue'
}

export function fieldReports(
  kind: FieldReport['kind'],
  { fields }: Pick<Suspicions, 'fields'>,
): readonly FieldReport[] {
  return fields.map((found) => ({ kind, ...found }))
}

const LONGEST = 40

/** Returns the table: for each list its name, then a line for each field. */
export function fieldTable(fields: readonly FieldReport[]): readonly string[] {
  return (['event', 'venue'] as const).flatMap((kind) => {
    const rows = fields.filter((field) => field.kind === kind)
    if (rows.length === 0) return []
    const names = rows.map(({ field }) => field)
    const froms = rows.map(({ from }) => printable(from ?? 'nothing', LONGEST))
    const counts = rows.map(({ filled, of }) => `${filled.toLocaleString('en')} of ${of.toLocaleString('en')}`)
    const [nameWidth, fromWidth, countWidth] = [names, froms, counts].map(widthOf)
    const lines = rows.map(({ example }, index) => {
      const name = names[index]?.padEnd(nameWidth ?? 0)
      const from = froms[index]?.padEnd(fromWidth ?? 0)
      const count = counts[index]?.padStart(countWidth ?? 0)
      const shown = example === null ? '' : `  e.g. ${printable(example, LONGEST)}`
      return `  ${name} ← ${from}  ${count}${shown}`
    })
    return ['', `Fields of the ${kind}s, their sources, and the number of rows with a value:`, ...lines]
  })
}

function widthOf(texts: readonly string[]): number {
  return texts.reduce((width, text) => Math.max(width, text.length), 0)
}
