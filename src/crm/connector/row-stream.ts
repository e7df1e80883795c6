import { readConnectorList } from '../../config/configuration.ts'
import type { ListName } from '../../domain/field.ts'
import type { FurtherFields } from '../../domain/further.ts'
import { printable } from '../../domain/printable.ts'
import { type Failure, type ListReading, type OnPause, failed, failureOf } from '../../sync/port.ts'
import { htmlReader } from '../mapping/list-setting.ts'
import type { Hint, ListOutline, Purpose, RowHost, RowSource, Rows, StreamShape, Way, WayArgument } from './row-host.ts'
import type { ListShape, SaidList } from '../../config/crm/sources.ts'

export class RowStream implements RowSource<never> {
  /** What is known about the list; `null` until the connector has started successfully. */
  known: StreamShape | null = null
  readonly name: ListName
  readonly host: RowHost
  readonly mapsRows = false
  budget: ListReading['budget'] = null
  #code: string | null = null
  /** The number of requests of the last read in each way that was read to its end and counted. */
  readonly requests: Map<Way, number> = new Map()
  readonly #configured: SaidList | null
  readonly #further: FurtherFields
  #told: ListOutline | null = null

  /** @param configured the list's settings in the configuration, which take precedence */
  constructor(name: ListName, host: RowHost, configured: SaidList | null, further: FurtherFields) {
    this.name = name
    this.host = host
    this.#configured = configured
    this.#further = further
  }

  async shape(): Promise<StreamShape | Failure> {
    const ready = await this.host.ready()
    if ('message' in ready) return ready
    const told = ready[this.name]
    this.budget = ready.budget ?? null
    this.#code = ready.code ?? null
    if (this.known !== null && this.#told === told) return this.known
    const shape = await this.#shapeOf(told)
    if (!('message' in shape)) [this.known, this.#told] = [shape, told]
    return shape
  }

  onHint(callback: (hint: Hint) => void): () => void {
    return this.host.onHint(this.name, callback)
  }

  onPause(callback: OnPause): void {
    this.host.pauses?.on(callback)
  }

  /** Everything that decides how a row becomes a record; `null` until it is known. */
  get mapping(): unknown {
    if (this.known === null) return null
    const { fields, active, showOnWeb, updatedAt } = this.known
    return { fields, active, showOnWeb, updatedAt, code: this.#code }
  }

  async #shapeOf({ ways, said, repeats = 'later' }: ListOutline): Promise<StreamShape | Failure> {
    const own = readConnectorList(this.name, said, this.host.name, this.#further)
    if (!own.ok) return failureOf('misconfigured', printable(own.problem))
    const merged = mergedShape(own.list, this.#configured)
    const shape = { ...merged, ...(await htmlReader([merged])), ways: new Set(ways), repeats }
    const unmapped = this.#further[this.name].find(({ name }) => !Object.hasOwn(merged.fields, name))
    if (unmapped !== undefined) {
      const key = `crm.${this.name}.fields.${unmapped.name}`
      const message = `${key} is missing; representation.further.${this.name} declares it, and the connector does not map it: name its column, or null for none`
      return failureOf('misconfigured', message)
    }
    if (ways.includes('since') && shape.updatedAt === null)
      return failureOf('misconfigured', `crm.${this.name}.updatedAt is missing; since needs it`)
    return shape
  }

  /** Reads rows. Tries again if the CRM refuses a secret that has been replaced meanwhile. */
  async *open(way: Way, argument: WayArgument, signal: AbortSignal, purpose: Purpose = 'refresh'): Rows {
    const { given } = this.host
    for (let tries = 1; ; tries++) {
      const rows = this.host.rows(this.name, way, argument, signal, purpose)
      let isUntouched = true
      try {
        let next = await rows.next()
        for (; next.done !== true; next = await rows.next()) {
          isUntouched = false
          yield next.value
        }
        const ended = next.value
        // A connector that sends its requests by itself has none that could be counted.
        if (ended.ok && ended.requests) this.requests.set(way, ended.requests)
        if (ended.ok) return ended
        const { kind, message, retryAfterMs } = ended.failure
        const isReplaced = kind === 'refused' && (await given.refresh())
        if (isReplaced) this.host.takeSecrets?.()
        if (isReplaced && isUntouched && tries === 1) continue
        const note = kind === 'refused' ? given.rereadNote : ''
        return failed(kind, `${this.name}: ${given.shown(message)}${note}`, retryAfterMs)
      } finally {
        await rows.return({ ok: true, cursor: null })
      }
    }
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
