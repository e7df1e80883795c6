// Connectors that users write, each in a separate process. In: the settings of crm.kind module or command. Out: a CRM
// whose rows come from that process. The service continues if the process fails.

import { basename } from 'node:path'
import type { CrmSettings } from '../../config/configuration.ts'
import type { ListName } from '../../domain/field.ts'
import { type Crm, type Failure, failed } from '../../sync/port.ts'
import { connectorCrm } from '../connector/connector-crm.ts'
import type { ConnectorOutline, RowHost, Rows, Way, WayArgument } from '../connector/row-host.ts'
import type { ConnectorContext } from '../kit/crm-limits.ts'
import { ConnectorProcess } from './connector-process.ts'

export interface ProcessContext extends ConnectorContext {
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Opens a connector that is a TypeScript or JavaScript file. */
export function openModuleCrm(settings: CrmSettings<'module'>, { env, ...context }: ProcessContext): Promise<Crm> {
  const name = basename(settings.path.file)
  return connectorCrm(new ModuleHost(name, settings, { env, ...context }), settings, context)
}

/** Reads rows from a module's process. */
class ModuleHost implements RowHost {
  readonly name: string
  readonly #process: ConnectorProcess
  readonly #hints: Record<ListName, Set<() => void>> = { events: new Set(), venues: new Set() }

  constructor(name: string, settings: CrmSettings<'module'>, context: ProcessContext) {
    this.name = name
    this.#process = new ConnectorProcess({
      ...context,
      settings,
      onHint: (list) => {
        for (const hint of this.#hints[list]) hint()
      },
    })
  }

  get heldMs(): number {
    return this.#process.heldMs
  }

  get unfinished(): number {
    return this.#process.unfinished
  }

  ready(): Promise<ConnectorOutline | Failure> {
    return this.#process.ready()
  }

  async *rows(list: ListName, way: Way, argument: WayArgument, signal: AbortSignal): Rows {
    const process = this.#process
    const ready = await process.ready()
    if ('message' in ready) return { ok: false, failure: ready }
    if (signal.aborted) return failed('internal', 'the read was given up')
    const read = process.open({ list, way, argument })
    const giveUp = (): void => process.close(read)
    signal.addEventListener('abort', giveUp, { once: true })
    let isOver = false
    try {
      for (;;) {
        const answer = await process.next(read)
        isOver = !answer.ok || answer.head.is === 'end'
        if (!answer.ok) return answer
        const { head, frame } = answer
        if (head.is === 'end') {
          process.succeeded()
          return { ok: true, cursor: head.cursor }
        }
        yield { ...head, rows: frame.rows }
      }
    } finally {
      signal.removeEventListener('abort', giveUp)
      if (!isOver) giveUp()
    }
  }

  refreshSecrets(): Promise<boolean> {
    return this.#process.refreshSecrets()
  }

  get rereadNote(): string {
    return this.#process.given.rereadNote
  }

  onHint(list: ListName, callback: () => void): () => void {
    this.#hints[list].add(callback)
    return () => this.#hints[list].delete(callback)
  }

  async close(): Promise<void> {
    this.#process.end()
  }
}
