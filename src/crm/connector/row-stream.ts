import { readConnectorList } from '../../config/configuration.ts'
import type { ListName } from '../../domain/field.ts'
import type { FurtherFields } from '../../domain/further.ts'
import { printable } from '../../domain/printable.ts'
import { type Failure, type ListReading, failureOf } from '../../sync/port.ts'
import { htmlReader } from '../mapping/list-setting.ts'
import type { ListOutline, RowHost, Rows, StreamShape, Way, WayArgument } from './row-host.ts'
import type { ListShape, SaidList } from '../../config/crm/sources.ts'

export class RowStream {
  /** What is known about the list; `null` until the connector has started successfully. */
  known: StreamShape | null = null
  readonly name: ListName
  budget: ListReading['budget'] = null
  /** The number of requests of the last read in each way that was read to its end and counted. */
  readonly requests: Map<Way, number> = new Map()
  readonly #host: RowHost
  readonly #configured: SaidList | null
  readonly #further: FurtherFields
  #told = ''

  /** @param configured the list's settings in the configuration, which take precedence */
  constructor(name: ListName, host: RowHost, configured: SaidList | null, further: FurtherFields) {
    this.name = name
    this.#host = host
    this.#configured = configured
    this.#further = further
  }

  async shape(): Promise<StreamShape | Failure> {
    const ready = await this.#host.ready()
    if ('message' in ready) return ready
    const told = ready[this.name]
    this.budget = ready.budget ?? null
    const text = JSON.stringify(told)
    // If a restarted process declares the same, the mapping need not be built again.
    if (this.known !== null && this.#told === text) return this.known
    const shape = await this.#shapeOf(told)
    if (!('message' in shape)) [this.known, this.#told] = [shape, text]
    return shape
  }

  async #shapeOf({ ways, said }: ListOutline): Promise<StreamShape | Failure> {
    const own = readConnectorList(this.name, said, this.#host.name, this.#further)
    if (!own.ok) return failureOf('misconfigured', printable(own.problem))
    const merged = mergedShape(own.list, this.#configured)
    const shape = { ...merged, ...(await htmlReader([merged])), ways: new Set(ways) }
    const unmapped = this.#further[this.name].find(({ name }) => !Object.hasOwn(merged.fields, name))
    if (unmapped !== undefined) {
      const key = `crm.${this.name}.fields.${unmapped.name}`
      const message = `${key} is missing; representation.further.${this.name} declares it, and the connector does not map it: name its column, or null for none`
      return failureOf('misconfigured', message)
    }
    if (ways.includes('since') && shape.updatedAt === null)
      return failureOf('misconfigured', `${this.name}: the method since needs updatedAt`)
    return shape
  }

  /** Reads rows. Tries again if the CRM refuses a secret that has been replaced meanwhile. */
  async *open(way: Way, argument: WayArgument, signal: AbortSignal): Rows {
    for (let tries = 1; ; tries++) {
      const rows = this.#host.rows(this.name, way, argument, signal)
      let isUntouched = true
      let isOver = false
      try {
        let next = await rows.next()
        for (; next.done !== true; next = await rows.next()) {
          isUntouched = false
          yield next.value
        }
        isOver = true
        const ended = next.value
        if (ended.ok) {
          if (ended.requests !== undefined) this.requests.set(way, ended.requests)
          return ended
        }
        const isRefused = ended.failure.kind === 'refused'
        const isReplaced = isRefused && (await this.#host.refreshSecrets())
        if (!isReplaced || !isUntouched || tries > 1) {
          const message = `${this.name}: ${ended.failure.message}${isRefused ? this.#host.rereadNote : ''}`
          return { ok: false, failure: { ...ended.failure, message } }
        }
      } finally {
        if (!isOver) await rows.return({ ok: true, cursor: null })
      }
    }
  }

  get unfinished(): number {
    return this.#host.unfinished ?? 0
  }

  onHint(callback: () => void): () => void {
    return this.#host.onHint(this.name, callback)
  }
}

/** Merges the configuration with what the connector declares. The configuration takes precedence, field by field. */
function mergedShape(own: SaidList, said: SaidList | null): ListShape {
  const { fields: ownFields, ...stock } = own
  const { fields, ...rest } = said ?? {}
  return {
    active: null,
    showOnWeb: null,
    updatedAt: null,
    ...stock,
    ...rest,
    fields: { ...ownFields, ...fields },
  }
}
