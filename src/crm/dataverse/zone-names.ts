import type { JsonValue } from '../../domain/json-value.ts'
import { openNamedZone } from '../../domain/zone.ts'
import type { Context } from '../connector/marquee-connector.d.ts'
import { errorIn } from './errors.ts'
import type { WebApi } from './web-api.ts'

const AGAIN_AFTER_MS = 900_000

/** The names of time zones that cells give: an IANA or Windows name, or a Dataverse code, which is looked up. */
export class ZoneNames {
  readonly #api: WebApi
  readonly #nowMs: () => number
  #codes: ReadonlyMap<string, string> = new Map()
  #askedAtMs = Number.NEGATIVE_INFINITY

  constructor(api: WebApi, nowMs: () => number) {
    this.#api = api
    this.#nowMs = nowMs
  }

  /** The name by which the zone of a cell is known here; `null` if the cell names no zone. */
  nameOf(cell: JsonValue): string | null {
    const text = textOf(cell)
    const name = this.#codes.get(text) ?? text
    return name === '' || openNamedZone(name) === null ? null : name
  }

  /** Looks up the codes if some of these cells, which name no zone that is known, may be codes. */
  async prepare(context: Context, cells: readonly JsonValue[]): Promise<void> {
    const isDue = this.#nowMs() - this.#askedAtMs >= AGAIN_AFTER_MS
    if (isDue && cells.some((cell) => /^-?\d+$/.test(textOf(cell)))) await this.#lookUp(context)
  }

  async #lookUp(context: Context): Promise<void> {
    const path = 'timezonedefinitions?$select=timezonecode,standardname'
    const rows = await this.#api.rows(context, path).catch((cause: unknown) => {
      // Without the right to read the codes, rows with nothing but a code are withheld. In an outage, the read fails.
      if (errorIn(cause)?.kind !== 'missing-privilege' && errorIn(cause)?.kind !== 'unknown-table') throw cause
      return null
    })
    this.#askedAtMs = this.#nowMs()
    if (rows === null) return
    const codes = new Map<string, string>()
    for (const { timezonecode = null, standardname = null } of rows)
      if (typeof standardname === 'string' && timezonecode !== null) codes.set(textOf(timezonecode), standardname)
    this.#codes = codes
  }
}

function textOf(cell: JsonValue): string {
  return typeof cell === 'string' || typeof cell === 'number' ? String(cell).trim() : ''
}
