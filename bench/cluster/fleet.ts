import type { RealInstance } from '../../test/cluster/real-instance.ts'
import { leaderOf, startInstance } from '../../test/cluster/real-instance.ts'
import type { Runtime } from '../../test/support/child.ts'
import { RedisServer } from '../../test/support/redis-server.ts'
import type { Workshop } from '../workshop.ts'

type Settings = Readonly<Record<string, unknown>>
type Env = Readonly<Record<string, string>>

/** A store and the instances that share it. They end with the part of the benchmark. */
export class BenchFleet {
  readonly redis: RedisServer
  readonly instances: RealInstance[] = []
  readonly #settings: Settings
  readonly #env: Env

  private constructor(redis: RedisServer, settings: Settings, env: Env) {
    this.redis = redis
    this.#settings = { ...settings, cluster: { url: redis.url } }
    this.#env = env
  }

  static async open(workshop: Workshop, settings: Settings, env: Env = {}): Promise<BenchFleet> {
    return workshop.keep(new BenchFleet(await RedisServer.start(), settings, env))
  }

  /** The configuration of the instances. */
  get settings(): Settings {
    return this.#settings
  }

  /** Starts an instance; resolves when it listens, ready or not. */
  async start(runtime: Runtime, env: Env = {}): Promise<RealInstance> {
    const instance = await startInstance(runtime, this.#settings, { ...this.#env, ...env })
    this.instances.push(instance)
    return instance
  }

  /** Starts several instances at once. */
  startAtOnce(runtime: Runtime, count: number, env: Env = {}): Promise<readonly RealInstance[]> {
    return Promise.all(Array.from({ length: count }, () => this.start(runtime, env)))
  }

  /** Resolves to the leader once all other instances follow it. */
  leader(): Promise<RealInstance> {
    return leaderOf(this.instances)
  }

  async kill(instance: RealInstance): Promise<void> {
    this.instances.splice(this.instances.indexOf(instance), 1)
    instance.process.child.signal('SIGKILL')
    await instance.process.child.exited
  }

  /** Ends all instances, but not the store. */
  async empty(): Promise<void> {
    await Promise.all(this.instances.splice(0).map((instance) => instance.end()))
  }

  async stop(): Promise<void> {
    await this.empty()
    await this.redis.remove()
  }
}
