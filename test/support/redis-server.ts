import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port.ts'

/** Debian's package `redis-server` or its replacement Valkey; `null` if neither is installed. */
const PROGRAM: string | null =
  ['/usr/bin/redis-server', '/usr/bin/valkey-server'].find((path) => existsSync(path)) ?? null

export const HAS_REDIS: boolean = PROGRAM !== null

const running = new Set<RedisServer>()
process.on('exit', () => {
  for (const server of running) server.kill()
})

/** A real Redis with a temporary folder and a free port. */
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

  /**
   * @param options Command-line options
   * @param tls Options of a second port with TLS; `null` for none
   */
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

  /** Starts the server, or restarts it on the same port with the data it saved. */
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

  /** Kills the server with SIGKILL. Only saved data survives. */
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

  /** Freezes the server, like a machine that is cut off: connections stay open, nothing arrives. */
  freeze(): void {
    this.#child?.kill('SIGSTOP')
  }

  continue(): void {
    this.#child?.kill('SIGCONT')
  }

  /** Returns the output of `redis-cli` for a command. */
  ask(...command: readonly string[]): string {
    const { stdout, stderr, status } = spawnSync('redis-cli', ['-p', String(this.port), ...command], {
      encoding: 'utf8',
    })
    if (status !== 0) throw new Error(`redis-cli failed: ${stderr}`)
    return stdout.trim()
  }
}
