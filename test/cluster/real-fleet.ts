import type { Runtime } from '../support/child.ts'
import { eventually } from '../support/eventually.ts'
import type { Settings } from '../support/files-directory.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import type { RealInstance } from './real-instance.ts'
import { leaderOf, startInstance } from './real-instance.ts'

const MAX_AGE_MS = 10_000
const EVENT = '00000001-0000-4000-8000-000000000000'
const VENUE = 'f0000000-0000-4000-8000-000000000000'
const WRITE_EVERY_MS = 40
const CALL_EVERY_MS = 10

/** A CRM whose every row says how new it is, several instances that share what one reads, and callers who check it. */
export class RealFleet {
  readonly instances: RealInstance[] = []
  settings: Settings
  /** The maximum age of its instances. */
  readonly maxAgeMs: number
  /** How many of them the CRM has. */
  events = 20
  readonly #env: Readonly<Record<string, string>>
  readonly #crm: FilesDirectory
  #version = 0
  /** When each version had been written. */
  readonly #writtenAtMs: number[] = []
  #timer: ReturnType<typeof setInterval> | null = null

  constructor(settings: Settings, env: Readonly<Record<string, string>> = {}, maxAgeMs: number = MAX_AGE_MS) {
    this.#env = env
    this.maxAgeMs = maxAgeMs
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

  /** @param main the program; another build's for an upgrade */
  async start(runtime: Runtime, more: Settings = {}, main?: string): Promise<RealInstance> {
    const settings = {
      crm: { kind: 'files', directory: this.#crm.crm },
      freshness: { maxAge: `${this.maxAgeMs}ms`, refreshEvery: '1s' },
      ...this.settings,
      ...more,
    }
    const instance = await startInstance(runtime, settings, this.#env, main)
    this.instances.push(instance)
    return instance
  }

  leader(of: readonly RealInstance[] = this.instances): Promise<RealInstance> {
    return leaderOf(of)
  }

  /** Waits until all answer what the CRM has now. */
  async untilEqual(of: readonly RealInstance[] = this.instances): Promise<void> {
    const now = this.#version
    for (const instance of of) {
      await eventually(
        () => versionOf(instance),
        ({ version }) => version !== null && version >= now,
      )
    }
  }

  /**
   * Asks an instance again and again until `end` says so; tells what it answered that it must not, and how often it was
   * 502.
   */
  async call(
    instance: RealInstance,
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
      wrong.push(...this.#tooOld(version, askedAtMs))
      await pause()
    }
    return { wrong, unavailable, answers }
  }

  /** Asks a proxy in front of all instances; tells what it answered that it must not, and how often. */
  async callFront(
    address: string,
    end: () => boolean,
  ): Promise<{ readonly wrong: readonly string[]; readonly answers: number }> {
    const wrong: string[] = []
    let answers = 0
    while (!end()) {
      const askedAtMs = performance.now()
      const { status, version } = await versionAt(address)
      answers++
      if (version === null) wrong.push(`it was answered with ${status}`)
      else wrong.push(...this.#tooOld(version, askedAtMs))
      await pause()
    }
    return { wrong, answers }
  }

  #tooOld(version: number, askedAtMs: number): readonly string[] {
    const next = this.#writtenAtMs[version + 1]
    const oldMs = next === undefined ? 0 : askedAtMs - next
    return oldMs > this.maxAgeMs ? [`version ${version} was ${Math.round(oldMs)} ms old`] : []
  }

  /** What else is to be asked than an instance, such as a proxy in front of them all. */
  async statuses(address: string, end: () => boolean): Promise<ReadonlyMap<number, number>> {
    const counts = new Map<number, number>()
    while (!end()) {
      const { status } = await versionAt(address)
      counts.set(status, (counts.get(status) ?? 0) + 1)
      await pause()
    }
    return counts
  }

  /** In order, and another may take its place. */
  async stop(instance: RealInstance): Promise<void> {
    await instance.process.child.stop()
    this.instances.splice(this.instances.indexOf(instance), 1)
  }

  async end(): Promise<void> {
    this.endWriting()
    await Promise.all(this.instances.map((instance) => instance.end()))
    this.#crm.remove()
  }
}

/** Between two answers: several for each version that is written, and most of the machine is left to the instances. */
function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, CALL_EVERY_MS))
}

interface Answered {
  readonly status: number
  readonly version: number | null
}

/** Status 0 where nobody answers within a while. */
function versionOf({ process }: RealInstance): Promise<Answered> {
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
