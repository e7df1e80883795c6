import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Runtime } from '../support/child.ts'
import { ROOT } from '../support/child.ts'
import { eventually } from '../support/eventually.ts'
import { type MarqueeProcess, serve } from '../support/marquee-process.ts'
import { mainThreadMs } from '../support/processor-time.ts'
import type { JsonServer } from './json-server.ts'
import { idNumbered } from './own-crm.ts'

interface ListStatus {
  readonly served: number
  readonly lastError: string | null
}

interface ServiceStatus {
  readonly connector?: readonly { readonly file: string; readonly sha256: string }[]
  readonly lists: { readonly events: ListStatus; readonly venues: ListStatus }
}

/** Waits until it is so. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  await eventually(async () => isSo(), Boolean)
}

export const SECRET = 'key-of-the-crm-1234'

/** A folder with a connector, its types, and a marquee.yaml. */
export class ConnectorFolder {
  readonly path: string = mkdtempSync(join(tmpdir(), 'marquee-connector-'))
  readonly configuration: string

  /** @param crm what stands under `crm`, besides the settings */
  constructor(server: JsonServer, files: Readonly<Record<string, string>>, crm: string, more = '') {
    this.configuration = this.write(
      'marquee.yaml',
      `listen: { port: 0 }
operations: { port: 0 }
freshness: { maxAge: 60s, refreshEvery: 200ms, staleIfError: 1h }
${more}
crm:
  settings: { url: '${server.url}', token: { file: ./crm.key } }
  requestTimeout: 1s
${crm.replaceAll(/^/gm, '  ')}
`,
    )
    this.write('crm.key', SECRET)
    cpSync(join(ROOT, 'src/crm/connector/marquee-connector.d.ts'), this.at('marquee-connector.d.ts'))
    for (const [name, text] of Object.entries(files)) this.write(name, text)
  }

  at(name: string): string {
    return join(this.path, name)
  }

  write(name: string, text: string): string {
    const path = this.at(name)
    writeFileSync(path, text, { mode: name.endsWith('.key') ? 0o600 : 0o644 })
    return path
  }

  /** The text of a file; empty if there is none. */
  read(name: string): string {
    return existsSync(this.at(name)) ? readFileSync(this.at(name), 'utf8') : ''
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true })
  }
}

/** A running service that reads by a connector, and a caller who never stops asking it. */
export class OwnService {
  readonly #process: MarqueeProcess
  readonly #url: string
  #isOver = false
  #asking: Promise<void> = Promise.resolve()
  /** What callers got that was no record. */
  readonly bad: string[] = []
  /** The longest that the service worked between a request and its answer; what else the machine does is not in it. */
  longestTurnMs = 0
  answers = 0

  private constructor(process: MarqueeProcess, id: string) {
    this.#process = process
    this.#url = `${process.listening.address}api/events/${id}`
  }

  /** Starts the service, and begins to ask for an event as soon as it is served. */
  static async start(runtime: Runtime, folder: ConnectorFolder, id: string): Promise<OwnService> {
    const service = new OwnService(await serve(runtime, folder.configuration), id)
    await until(async () => (await fetch(service.#url)).status === 200)
    service.#asking = service.#ask()
    return service
  }

  async #ask(): Promise<void> {
    while (!this.#isOver) {
      const { pid } = this.#process.child
      const begun = mainThreadMs(pid)
      const status = await fetch(this.#url).then(
        (response) => response.status,
        (cause: unknown) => String(cause),
      )
      this.answers++
      this.longestTurnMs = Math.max(this.longestTurnMs, mainThreadMs(pid) - begun)
      if (status !== 200) this.bad.push(String(status))
      await Bun.sleep(20)
    }
  }

  get log(): string {
    return this.#process.child.stdout
  }

  get listening(): MarqueeProcess['listening'] {
    return this.#process.listening
  }

  /** Waits until the log says something; of what it had said before, nothing counts. */
  async says(what: string, after = 0): Promise<void> {
    await until(() => this.log.slice(after).includes(what)).catch((cause: unknown) => {
      throw new Error(`the log does not say ${JSON.stringify(what)}:\n${this.log.slice(-3000)}`, { cause })
    })
  }

  /** An event as it is served. */
  async get(number: number): Promise<string> {
    const response = await fetch(`${this.#process.listening.address}api/events/${idNumbered(number)}`)
    return response.text()
  }

  async status(): Promise<ServiceStatus> {
    const response = await fetch(`${this.#process.listening.operations ?? ''}status`)
    return (await response.json()) as ServiceStatus
  }

  async lastError(): Promise<string | null> {
    return (await this.status()).lists.events.lastError
  }

  /** Waits until the events are read without a fault again. */
  async recovers(): Promise<void> {
    await until(async () => (await this.lastError()) === null)
  }

  hangUp(): void {
    this.#process.child.signal('SIGHUP')
  }

  /** The process of the connector; null if there is none at the moment. One that was ended may take long to be gone. */
  get childPid(): number | null {
    const { pid } = this.#process.child
    const newest = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').at(-1)
    return newest === undefined || newest === '' ? null : Number(newest)
  }

  async stop(): Promise<unknown> {
    this.#isOver = true
    await this.#asking
    return this.#process.child.stop()
  }
}
