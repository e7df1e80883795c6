import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Runtime } from '../support/child.ts'
import { Child, programOf } from '../support/child.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'

interface Line {
  readonly event: string
  readonly reason?: string
  readonly changed?: number
  readonly rows?: number
}

const left = new Set<string>()
process.on('exit', () => {
  for (const folder of left) rmSync(folder, { recursive: true, force: true })
})

/** One service that is started again and again in its folder, on its port. */
export class Service {
  readonly folder: string = mkdtempSync(join(tmpdir(), 'marquee-service-'))
  readonly snapshot: string = join(this.folder, '.marquee')
  readonly #port: number
  readonly #env: Readonly<Record<string, string>>

  private constructor(port: number, env: Readonly<Record<string, string>>) {
    this.#port = port
    this.#env = env
    left.add(this.folder)
  }

  static async create(
    settings: Readonly<Record<string, unknown>>,
    env: Readonly<Record<string, string>> = {},
  ): Promise<Service> {
    const service = new Service(await freePort(), env)
    service.configure(settings)
    return service
  }

  configure(settings: Readonly<Record<string, unknown>>): void {
    const defaults = { operations: null, listen: { port: this.#port } }
    writeFileSync(join(this.folder, 'marquee.yaml'), JSON.stringify({ ...defaults, ...settings }))
  }

  /** `prefix` is a shell's, before the program. */
  spawn(runtime: Runtime, prefix = ''): Child {
    const args = ['src/main.ts', 'serve', '--config', join(this.folder, 'marquee.yaml')]
    if (prefix === '') return new Child(programOf(runtime), args, { env: this.#env })
    return new Child('sh', ['-c', `${prefix}; exec "$0" "$@"`, programOf(runtime), ...args], { env: this.#env })
  }

  /** Milliseconds until the path was answered with 200, asked again and again; every other answer must be 502. */
  async untilAnswered(path: string): Promise<{ readonly ms: number; readonly body: string }> {
    const begun = performance.now()
    const { body } = await eventually(
      () => this.ask(path),
      ({ status }) => {
        if (status !== 0 && status !== 200 && status !== 502) throw new Error(`${path} was answered with ${status}`)
        return status === 200
      },
    )
    return { ms: performance.now() - begun, body }
  }

  /** Status 0 where nobody listens. */
  async ask(path: string, accept = '*/*'): Promise<{ readonly status: number; readonly body: string }> {
    try {
      const response = await fetch(`http://127.0.0.1:${this.#port}${path}`, { headers: { Accept: accept } })
      return { status: response.status, body: await response.text() }
    } catch {
      return { status: 0, body: '' }
    }
  }

  /** The first answer whose status is another. */
  untilNot(path: string, status: number): Promise<Response> {
    return eventually(
      () => fetch(`http://127.0.0.1:${this.#port}${path}`).catch(() => Response.error()),
      (answer) => answer.status !== status,
    )
  }

  get files(): readonly string[] {
    return existsSync(this.snapshot) ? readdirSync(this.snapshot) : []
  }

  /** Whether a snapshot is being written. */
  get isWriting(): boolean {
    return this.files.some((name) => name.length > 'aaaaaaaaaaaa.snapshot'.length)
  }

  /** When the snapshot was written; 0 if there is none. */
  get writtenMs(): number {
    const name = this.files.find((file) => file.length === 'aaaaaaaaaaaa.snapshot'.length)
    return name === undefined ? 0 : (statSync(join(this.snapshot, name), { throwIfNoEntry: false })?.mtimeMs ?? 0)
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
    left.delete(this.folder)
  }
}

export function linesOf(child: Child): readonly Line[] {
  return child.stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line)
}

/** Waits for the line of an event. */
export async function untilSaid(child: Child, event: string): Promise<Line> {
  const line = await child.line((text) => text.includes(`"event":"${event}"`))
  if (line === null) throw new Error(`it never said ${event}:\n${child.stdout}${child.stderr}`)
  return JSON.parse(line) as Line
}

/** How many rows its reads changed. */
export function changedRows(child: Child): number {
  return linesOf(child).reduce((sum, { event, changed = 0 }) => sum + (event === 'read-ended' ? changed : 0), 0)
}

/** A list of so many events in one file. */
export function writeEvents(folder: string, count: number): void {
  mkdirSync(join(folder, 'crm'), { recursive: true })
  const lines = Array.from({ length: count }, (_, index) => eventLine(index + 1, `Event ${index + 1}`))
  writeFileSync(join(folder, 'crm', 'events.ndjson'), lines.join(''))
  writeFileSync(join(folder, 'crm', 'venues.json'), JSON.stringify([{ Id: hex(0xf000_0000), Name: 'Hall' }]))
}

export function eventLine(number: number, Name: string): string {
  const event = {
    Id: hex(number),
    Name,
    VenueId: hex(0xf000_0000),
    TicketCapacity: 100,
    TicketsAvailable: number % 100,
    Start: '2027-07-12T19:30:00Z',
    Finish: '2027-07-12T22:00:00Z',
    Price: 12.5,
    Tags: ['Music', 'Jazz'],
    ShowOnWeb: true,
  }
  return `${JSON.stringify(event)}\n`
}

export function hex(number: number): string {
  return `${number.toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`
}
