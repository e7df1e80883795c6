import type { ShareStatus } from '../../src/operations/share-status.ts'
import type { Runtime } from '../support/child.ts'
import { Child, programOf } from '../support/child.ts'
import { eventually } from '../support/eventually.ts'
import type { Settings } from '../support/files-directory.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import type { MarqueeProcess } from '../support/marquee-process.ts'
import { untilListening } from '../support/marquee-process.ts'
import { askOperations } from '../support/operations-client.ts'

const BOUND_MS = 10_000
const EVENT = '00000001-0000-4000-8000-000000000000'
const VENUE = 'f0000000-0000-4000-8000-000000000000'
const WRITE_EVERY_MS = 40

/** One Marquee of several: a process, and how to ask it. */
export interface Instance {
  readonly runtime: Runtime
  readonly process: MarqueeProcess
  status(): Promise<Told | null>
}

interface Told {
  readonly ready: boolean
  readonly share: ShareStatus
  readonly lists: { readonly events: { readonly withheld: number; readonly braked: boolean } }
}

/** A CRM whose every row says how new it is, several instances that share what one reads, and callers who check it. */
export class RealFleet {
  readonly instances: Instance[] = []
  settings: Settings
  /** How many of them the CRM has. */
  events = 20
  readonly #env: Readonly<Record<string, string>>
  readonly #folders: FilesDirectory[] = []
  readonly #crm: FilesDirectory
  #version = 0
  /** When each version had been written. */
  readonly #writtenAtMs: number[] = []
  #timer: ReturnType<typeof setInterval> | null = null

  constructor(settings: Settings, env: Readonly<Record<string, string>> = {}) {
    this.#env = env
    this.#crm = new FilesDirectory({}, {})
    this.settings = settings
    this.#crm.write('venues', JSON.stringify([{ Id: VENUE, Name: 'Hall' }]))
    this.write()
  }

  get version(): number {
    return this.#version
  }

  /** Writes the next version of the list. */
  write(): void {
    this.#version++
    const events = Array.from({ length: this.events }, (_, index) => ({
      Id: EVENT.replace('00000001', String(index + 1).padStart(8, '0')),
      Name: `version ${this.#version}`,
      VenueId: VENUE,
      Start: '2036-07-12T19:30:00Z',
      Finish: '2036-07-12T22:00:00Z',
      TicketCapacity: 100,
      TicketsAvailable: 5,
      Price: 12,
      ShowOnWeb: true,
    }))
    const broken = { ...events[0], Id: 'ffffffff-0000-4000-8000-000000000000', Start: 'a found value' }
    this.#crm.write('events', JSON.stringify([...events, broken]))
    this.#writtenAtMs[this.#version] = performance.now()
  }

  beginWriting(): void {
    this.#timer = setInterval(() => this.write(), WRITE_EVERY_MS)
  }

  endWriting(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
  }

  async start(runtime: Runtime): Promise<Instance> {
    const settings = {
      listen: { port: 0 },
      operations: { port: 0 },
      base: null,
      crm: { kind: 'files', directory: this.#crm.crm },
      freshness: { bound: `${BOUND_MS}ms`, refreshEvery: '1s' },
      ...this.settings,
    }
    const folder = new FilesDirectory(settings, null)
    this.#folders.push(folder)
    const args = ['src/main.ts', 'serve', '--config', folder.configuration]
    const process = await untilListening(new Child(programOf(runtime), args, { env: this.#env }))
    const instance: Instance = {
      runtime,
      process,
      async status() {
        const reply = await askOperations(`${process.listening.operations}status`)
        return reply === null ? null : (JSON.parse(reply.text) as Told)
      },
    }
    this.instances.push(instance)
    return instance
  }

  /** The one that reads for all; waits until there is exactly one, and all others follow it. */
  async reader(of: readonly Instance[] = this.instances): Promise<Instance> {
    const told = await eventually(
      () => Promise.all(of.map((instance) => instance.status())),
      (all) => {
        const [reader, ...more] = all.filter((one) => one?.share.role === 'reader')
        if (reader === undefined || reader === null || more.length > 0) return false
        return all.every((one) => one?.share.reader === reader.share.instance && one.ready)
      },
      30_000,
    )
    const at = told.findIndex((one) => one?.share.role === 'reader')
    const instance = of[at]
    if (instance === undefined) throw new Error('nobody reads')
    return instance
  }

  /** Waits until all answer what the CRM has now. */
  async untilEqual(of: readonly Instance[] = this.instances): Promise<void> {
    const now = this.#version
    for (const instance of of) {
      await eventually(
        () => versionOf(instance),
        ({ version }) => version !== null && version >= now,
        30_000,
      )
    }
  }

  /** Asks an instance again and again until `end` says so; tells what it answered that it must not, and how often it was 502. */
  async call(
    instance: Instance,
    end: () => boolean,
  ): Promise<{ readonly wrong: readonly string[]; unavailable: number; answers: number }> {
    const wrong: string[] = []
    let [unavailable, answers, last] = [0, 0, 0]
    while (!end()) {
      const askedAtMs = performance.now()
      const { status, version } = await versionOf(instance)
      if (status === 502) unavailable++
      if (version === null) {
        if (status !== 502 && status !== 0) wrong.push(`it was answered with ${status}`)
        continue
      }
      answers++
      if (version < last) wrong.push(`it went back from ${last} to ${version}`)
      last = version
      const next = this.#writtenAtMs[version + 1]
      const oldMs = next === undefined ? 0 : askedAtMs - next
      if (oldMs > BOUND_MS) wrong.push(`version ${version} was ${Math.round(oldMs)} ms old`)
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    return { wrong, unavailable, answers }
  }

  /** What else is to be asked than an instance, such as a proxy in front of them all. */
  async statuses(address: string, end: () => boolean): Promise<ReadonlyMap<number, number>> {
    const counts = new Map<number, number>()
    while (!end()) {
      const { status } = await versionAt(address)
      counts.set(status, (counts.get(status) ?? 0) + 1)
    }
    return counts
  }

  /** In order, and another may take its place. */
  async stop(instance: Instance): Promise<void> {
    await instance.process.child.stop()
    this.instances.splice(this.instances.indexOf(instance), 1)
  }

  async end(): Promise<void> {
    this.endWriting()
    for (const { process } of this.instances) process.child.signal('SIGCONT')
    await Promise.all(this.instances.map(({ process }) => process.child.stop(5000)))
    for (const folder of [...this.#folders, this.#crm]) folder.remove()
  }
}

interface Answered {
  readonly status: number
  readonly version: number | null
}

/** Status 0 where nobody answers within a while. */
function versionOf({ process }: Instance): Promise<Answered> {
  return versionAt(process.listening.address)
}

async function versionAt(address: string): Promise<Answered> {
  try {
    const response = await fetch(`${address}api/events/${EVENT}`, { signal: AbortSignal.timeout(15_000) })
    const text = await response.text()
    const version = /version (\d+)/.exec(text)?.[1]
    return { status: response.status, version: version === undefined ? null : Number(version) }
  } catch {
    return { status: 0, version: null }
  }
}
