import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port.ts'

/** Debian's package `redis-server`, or what takes its place; null where neither is installed. */
const PROGRAM: string | null =
  ['/usr/bin/redis-server', '/usr/bin/valkey-server'].find((path) => existsSync(path)) ?? null

export const HAS_REDIS: boolean = PROGRAM !== null

const running = new Set<RedisServer>()
process.on('exit', () => {
  for (const server of running) server.kill()
})

/** A real Redis in a folder and on a port of its own. */
export class RedisServer {
  readonly folder: string = mkdtempSync(join(tmpdir(), 'marquee-redis-'))
  readonly port: number
  readonly tlsPort: number | null
  readonly #options: readonly string[]
  #child: ChildProcess | null = null
  #exited: Promise<unknown> = Promise.resolve()

  private constructor(port: number, tlsPort: number | null, options: readonly string[]) {
    this.port = port
    this.tlsPort = tlsPort
    this.#options = options
  }

  /** `options` as on its command line; `tls`: beside the plain port, one with these. */
  static async start(options: readonly string[] = [], tls: readonly string[] | null = null): Promise<RedisServer> {
    const tlsPort = tls === null ? null : await freePort()
    const more = tls === null ? [] : ['--tls-port', String(tlsPort), '--tls-auth-clients', 'no', ...tls]
    const server = new RedisServer(await freePort(), tlsPort, [...options, ...more])
    await server.run()
    return server
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}/0`
  }

  get pid(): number {
    return this.#child?.pid ?? 0
  }

  /** Starts it, or starts it again on the same port: what it saved lies there, and is loaded. */
  async run(): Promise<void> {
    const usual = ['--port', String(this.port), '--bind', '127.0.0.1', '--save', '', '--dir', this.folder]
    const child = spawn(PROGRAM ?? '', [...usual, ...this.#options], { stdio: ['ignore', 'pipe', 'pipe'] })
    this.#child = child
    running.add(this)
    const { promise: ready, resolve } = Promise.withResolvers<boolean>()
    let log = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      log += text
      if (log.includes('Ready to accept connections')) resolve(true)
    })
    this.#exited = new Promise((ended) => child.on('exit', ended))
    void this.#exited.then(() => resolve(false))
    if (!(await ready)) throw new Error(`Redis did not start:\n${log}`)
  }

  /** By `kill -9`; what it held is gone, but for what it saved. */
  async end(): Promise<void> {
    this.#child?.kill('SIGKILL')
    await this.#exited
  }

  async remove(): Promise<void> {
    await this.end()
    running.delete(this)
    rmSync(this.folder, { recursive: true, force: true })
  }

  kill(): void {
    this.#child?.kill('SIGKILL')
    rmSync(this.folder, { recursive: true, force: true })
  }

  /** Stops answering, as a machine does that is cut off: connections stay, nothing comes. */
  freeze(): void {
    this.#child?.kill('SIGSTOP')
  }

  continue(): void {
    this.#child?.kill('SIGCONT')
  }

  /** What `redis-cli` prints for the command. */
  ask(...command: readonly string[]): string {
    const { stdout, stderr, status } = spawnSync('redis-cli', ['-p', String(this.port), ...command], {
      encoding: 'utf8',
    })
    if (status !== 0) throw new Error(`redis-cli failed: ${stderr}`)
    return stdout.trim()
  }
}
