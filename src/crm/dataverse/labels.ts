import type { CrmFailure } from '../../replica/port.ts'
import type { Time } from '../../replica/time.ts'
import type { Cell } from '../mapping/cell.ts'
import { sourceDigits } from '../mapping/cell.ts'
import type { DataverseClient } from './client.ts'
import { readLabels, readLogicalName } from './metadata.ts'

const AGAIN_AFTER_MS = 10_000

/** The words that people see for the codes in some columns of one table. */
export class Labels {
  readonly #client: DataverseClient
  readonly #time: Time
  readonly #from: string
  readonly #language: number
  /** By column. */
  readonly #labels = new Map<string, ReadonlyMap<string, string>>()
  #logicalName: string | null = null
  #readAtMs = Number.NEGATIVE_INFINITY

  constructor(client: DataverseClient, time: Time, from: string, language: number, columns: readonly string[]) {
    this.#client = client
    this.#time = time
    this.#from = from
    this.#language = language
    for (const column of columns) this.#labels.set(column, new Map())
  }

  /** Reads them all anew; what was known stays where that fails. */
  async read(signal: AbortSignal): Promise<CrmFailure | null> {
    if (this.#labels.size === 0) return null
    const name = this.#logicalName ?? (await readLogicalName(this.#client, this.#from, signal))
    if (typeof name !== 'string') return name
    this.#logicalName = name
    for (const column of this.#labels.keys()) {
      const labels = await readLabels(this.#client, name, column, this.#language, signal)
      if ('kind' in labels) return labels
      this.#labels.set(column, labels)
    }
    this.#readAtMs = this.#time.now().monotonicMs
    return null
  }

  /** Reads them anew where a row holds a code without a word: it may have got one since. */
  async prepare(cellsOf: (column: string) => Iterable<Cell>, signal: AbortSignal): Promise<CrmFailure | null> {
    if (this.#time.now().monotonicMs - this.#readAtMs < AGAIN_AFTER_MS) return null
    for (const [column, labels] of this.#labels) {
      for (const cell of cellsOf(column)) {
        if (codesOf(cell).some((code) => !labels.has(code))) return this.read(signal)
      }
    }
    return null
  }

  /** Each code's word, null for one that has none: an option that was deleted, whose code rows go on holding. */
  wordsOf(column: string, cell: Cell): readonly (string | null)[] {
    const labels = this.#labels.get(column)
    return codesOf(cell).map((code) => labels?.get(code) ?? null)
  }
}

/** Several choices are one text of numbers between commas. */
function codesOf(cell: Cell): readonly string[] {
  if (typeof cell === 'boolean') return [String(cell)]
  if (typeof cell !== 'string') {
    const digits = sourceDigits(cell)
    return digits === null ? [] : [digits]
  }
  return cell
    .split(',')
    .map((code) => code.trim())
    .filter((code) => code !== '')
}
