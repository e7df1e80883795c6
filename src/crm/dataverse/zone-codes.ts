import { type Zone, openNamedZone } from '../../domain/zone.ts'
import type { Failure } from '../../sync/port.ts'
import type { Time } from '../../time/time.ts'
import { type Cell, plainText } from '../cells/cell.ts'
import type { DataverseClient } from './client.ts'
import { readRows } from './metadata.ts'

const MOST_NAMES = 1000
/** Longer than twice any zone's name. */
const LONGEST_NAME = 100
const AGAIN_AFTER_MS = 900_000

/** Time zones that cells name: by an IANA or Windows name, or by a Dataverse code, which is looked up on first use. */
export class ZoneCodes {
  readonly #client: DataverseClient
  readonly #time: Time
  readonly #named = new Map<string, Zone | null>()
  #codes: ReadonlyMap<string, string> = new Map()
  #askedAtMs = Number.NEGATIVE_INFINITY

  constructor(client: DataverseClient, time: Time) {
    this.#client = client
    this.#time = time
  }

  zoneOf(cell: Cell): Zone | null {
    const text = plainText(cell)?.trim()
    if (text === undefined) return null
    return this.#zoneNamed(this.#codes.get(text) ?? text)
  }

  /** Looks up the codes if a cell holds an unknown one. Returns a failure if the lookup must be repeated. */
  async prepare(cells: Iterable<Cell>, signal: AbortSignal): Promise<Failure | null> {
    for (const cell of cells) {
      const text = plainText(cell)?.trim()
      if (text === undefined || !/^-?\d+$/.test(text) || this.zoneOf(cell) !== null) continue
      return this.#time.now().monotonicMs - this.#askedAtMs < AGAIN_AFTER_MS ? null : this.#lookUp(signal)
    }
    return null
  }

  async #lookUp(signal: AbortSignal): Promise<Failure | null> {
    const path = 'timezonedefinitions?$select=timezonecode,standardname'
    const rows = await readRows(this.#client, path, signal)
    // Without the right to read the codes, rows with nothing but a code are withheld. In an outage, the read fails
    // instead.
    if ('kind' in rows && rows.kind !== 'refused' && rows.kind !== 'misconfigured') return rows
    this.#askedAtMs = this.#time.now().monotonicMs
    if ('kind' in rows) return null
    const codes = new Map<string, string>()
    for (const { timezonecode = null, standardname = null } of rows) {
      const code = plainText(timezonecode)?.trim()
      if (code !== undefined && typeof standardname === 'string') codes.set(code, standardname)
    }
    this.#codes = codes
    return null
  }

  #zoneNamed(name: string): Zone | null {
    if (name.length > LONGEST_NAME) return null
    const known = this.#named.get(name)
    if (known !== undefined) return known
    const zone = openNamedZone(name)
    if (this.#named.size < MOST_NAMES) this.#named.set(name, zone)
    return zone
  }
}
