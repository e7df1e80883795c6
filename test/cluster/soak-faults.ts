import { copyFileSync, existsSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import type { Chance } from '../model/chance.ts'
import type { Runtime } from '../support/child.ts'
import { freePort } from '../support/free-port.ts'
import type { RedisServer } from '../support/redis-server.ts'
import type { RealInstance } from './real-instance.ts'
import { startInstance } from './real-instance.ts'
import { RIGHTS } from './rights-of-the-page.ts'
import { SwallowingProxy } from '../support/swallowing-proxy.ts'

export interface SoakFaultsOptions {
  readonly redis: RedisServer
  readonly chance: Chance
  /** Of a fault; longer than the maximum age. */
  readonly longestMs: number
  readonly settings: Readonly<Record<string, unknown>>
  readonly env: Readonly<Record<string, string>>
}

/** The user of the instances, which the server has from its start. */
const STORE_USER = 'marquee'
const STORE_PASSWORD = 'the-password-of-the-store'
export const STORE_OPTIONS: readonly string[] = ['--user', STORE_USER, 'on', `>${STORE_PASSWORD}`, ...RIGHTS]

/** Ids are bytes, which no command line takes. */
const DELETE_ROWS = "for _, id in ipairs(redis.call('HRANDFIELD', KEYS[1], 5)) do redis.call('HDEL', KEYS[1], id) end"

interface Kept {
  readonly name: string
  readonly instance: RealInstance
  /** Its way to the store. */
  readonly proxy: SwallowingProxy
}

/** Calls back when it has begun; is over when it resolves. */
type Fault = (begun: () => void) => Promise<void>

/** Instances on ports that stay theirs, and what befalls them and their store. */
export class SoakFaults {
  /** What each process said, by its name. */
  readonly logs = new Map<string, () => string>()
  readonly #options: SoakFaultsOptions
  readonly #kept = new Map<string, Kept>()
  #started = 0

  constructor(options: SoakFaultsOptions) {
    this.#options = options
  }

  readonly faults: Readonly<Record<string, Fault>> = {
    'the leader is killed, and started again': (begun) => this.#killReader(begun),
    'the leader is stopped, and wakes': async (begun) => this.#holdUp(await this.#oneThat(true), begun),
    'another is stopped, and wakes': async (begun) => this.#holdUp(await this.#oneThat(false), begun),
    'the store is killed, and comes back empty': (begun) => this.#killStore(begun),
    'the store is stopped, and wakes': (begun) => this.#freezeStore(begun),
    'the store is emptied': async (begun) => {
      this.#options.redis.ask('FLUSHALL')
      begun()
    },
    'the store is full': (begun) => this.#fillStore(begun),
    'the store is slow': (begun) => this.#slowStore(begun),
    'the store refuses access': (begun) => this.#revoke(begun),
    'the leader is cut from the store': async (begun) => this.#cut(await this.#oneThat(true), begun),
    'another is cut from the store': async (begun) => this.#cut(await this.#oneThat(false), begun),
    'rows in the store are deleted': async (begun) => {
      const { redis } = this.#options
      for (const list of ['events', 'venues']) {
        const [key = ''] = redis.ask('KEYS', `marquee:{*}:${list}`).split('\n')
        if (key !== '') redis.ask('EVAL', DELETE_ROWS, '1', key)
      }
      begun()
    },
    'a later entry is written to the log, and deleted': async (begun) => {
      const { redis } = this.#options
      // There is none where the store has just come back empty.
      const [log = ''] = redis.ask('KEYS', 'marquee:{*}:log').split('\n')
      if (log !== '') redis.ask('XDEL', log, redis.ask('XADD', log, '*', 'a', 'slip'))
      begun()
    },
    'the store is killed, and comes back as it was a while ago': (begun) => this.#putBackOld(begun),
  }

  get instances(): readonly RealInstance[] {
    return [...this.#kept.values()].map(({ instance }) => instance)
  }

  /** The processes that live now, by their ports. */
  get processes(): ReadonlyMap<string, string> {
    return new Map([...this.#kept].map(([port, { name }]) => [port, name]))
  }

  async start(runtime: Runtime, port?: string): Promise<RealInstance> {
    const { settings, env, redis } = this.#options
    const at = port ?? String(await freePort())
    const proxy = await SwallowingProxy.open(redis.port)
    const cluster = { url: { env: 'STORE' } }
    const store = { STORE: `redis://${STORE_USER}:${STORE_PASSWORD}@127.0.0.1:${proxy.port}/0` }
    const listen = { port: Number(at) }
    const instance = await startInstance(runtime, { listen, cluster, ...settings }, { ...env, ...store })
    const name = `${runtime}-${++this.#started}-on-${at}`
    this.#kept.set(at, { name, instance, proxy })
    this.logs.set(name, () => instance.process.child.stdout + instance.process.child.stderr)
    return instance
  }

  /** Ends the one on a port in order. */
  async stop(port: number): Promise<void> {
    const kept = this.#kept.get(String(port))
    this.#kept.delete(String(port))
    await kept?.instance.end()
    kept?.proxy.close()
  }

  /** Keeps what the store has, to be put back later. */
  keepAsOld(): void {
    this.#options.redis.ask('SAVE')
    renameSync(this.#dump, this.#old)
  }

  async end(): Promise<void> {
    await Promise.all(this.instances.map(({ process }) => this.stop(process.port)))
  }

  get #dump(): string {
    return join(this.#options.redis.folder, 'dump.rdb')
  }

  get #old(): string {
    return join(this.#options.redis.folder, 'old.rdb')
  }

  #forAWhile(): Promise<void> {
    const { chance, longestMs } = this.#options
    return new Promise((resolve) => setTimeout(resolve, chance.next() * longestMs))
  }

  /** The one that reads, or one that does not; any where there is none, or one cannot be asked. */
  async #oneThat(reads: boolean): Promise<RealInstance> {
    const told = await Promise.all(this.instances.map((instance) => instance.status()))
    const fitting = this.instances.filter((_, index) => (told[index]?.cluster.role === 'leader') === reads)
    return this.#options.chance.pick(fitting.length > 0 ? fitting : this.instances)
  }

  async #killReader(begun: () => void): Promise<void> {
    const instance = await this.#oneThat(true)
    const port = String(instance.process.port)
    const proxy = this.#kept.get(port)?.proxy
    this.#kept.delete(port)
    instance.process.child.signal('SIGKILL')
    await instance.process.child.exited
    begun()
    await instance.end()
    proxy?.close()
    await this.start(instance.runtime, port)
  }

  async #holdUp({ process: { child } }: RealInstance, begun: () => void): Promise<void> {
    child.signal('SIGSTOP')
    begun()
    await this.#forAWhile()
    child.signal('SIGCONT')
  }

  async #killStore(begun: () => void): Promise<void> {
    const { redis } = this.#options
    await redis.end()
    begun()
    await this.#forAWhile()
    await redis.run()
  }

  /** Each command waits up to 300 ms. */
  async #slowStore(begun: () => void): Promise<void> {
    const { redis } = this.#options
    const timer = setInterval(() => redis.ask('CLIENT', 'PAUSE', '300', 'ALL'), 400)
    begun()
    await this.#forAWhile()
    clearInterval(timer)
  }

  async #revoke(begun: () => void): Promise<void> {
    const { redis } = this.#options
    redis.ask('ACL', 'SETUSER', STORE_USER, 'off')
    redis.ask('CLIENT', 'KILL', 'USER', STORE_USER)
    begun()
    await this.#forAWhile()
    redis.ask('ACL', 'SETUSER', STORE_USER, 'on')
  }

  async #cut(instance: RealInstance, begun: () => void): Promise<void> {
    const proxy = this.#kept.get(String(instance.process.port))?.proxy
    if (proxy !== undefined) proxy.isSwallowing = true
    begun()
    await this.#forAWhile()
    if (proxy !== undefined) proxy.isSwallowing = false
  }

  async #freezeStore(begun: () => void): Promise<void> {
    const { redis } = this.#options
    redis.freeze()
    begun()
    await this.#forAWhile()
    redis.continue()
  }

  async #fillStore(begun: () => void): Promise<void> {
    const { redis } = this.#options
    redis.ask('CONFIG', 'SET', 'maxmemory', '1')
    begun()
    await this.#forAWhile()
    redis.ask('CONFIG', 'SET', 'maxmemory', '0')
  }

  async #putBackOld(begun: () => void): Promise<void> {
    const { redis } = this.#options
    await redis.end()
    begun()
    if (existsSync(this.#old)) copyFileSync(this.#old, this.#dump)
    await this.#forAWhile()
    await redis.run()
    // Or it would come back the next time, too.
    renameSync(this.#dump, this.#old)
  }
}
