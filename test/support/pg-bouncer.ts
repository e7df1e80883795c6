import type { ChildProcess } from 'node:child_process'
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port.ts'
import { installedProgram } from './installed-program.ts'

const PROGRAM: string | null = installedProgram('pgbouncer')

export const HAS_PG_BOUNCER: boolean = PROGRAM !== null

const running = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

export interface PgBouncerSettings {
  readonly serverPort: number
  readonly mode: 'session' | 'transaction' | 'statement'
  readonly user: string
  readonly password: string
  /** The number of server connections for all clients together. */
  readonly poolSize?: number
}

/** A real PgBouncer in front of a server, on a free port. */
export class PgBouncer {
  readonly port: number
  log = ''
  readonly #folder: string
  readonly #child: ChildProcess
  readonly #exited: Promise<unknown>

  private constructor(port: number, folder: string, child: ChildProcess) {
    this.port = port
    this.#folder = folder
    this.#child = child
    running.add(child)
    this.#exited = new Promise((resolve) => child.on('exit', resolve))
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.log += text))
  }

  static async start({ serverPort, mode, user, password, poolSize = 10 }: PgBouncerSettings): Promise<PgBouncer> {
    const folder = mkdtempSync(join(tmpdir(), 'marquee-bouncer-'))
    const port = await freePort()
    const users = join(folder, 'users.txt')
    writeFileSync(users, `"${user}" "${password}"\n`)
    const lines = [
      '[databases]',
      `* = host=127.0.0.1 port=${serverPort}`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = scram-sha-256',
      `auth_file = ${users}`,
      `pool_mode = ${mode}`,
      `default_pool_size = ${poolSize}`,
    ]
    const path = join(folder, 'pgbouncer.ini')
    writeFileSync(path, `${lines.join('\n')}\n`)
    // PgBouncer refuses to run as root.
    const asOther = process.getuid?.() === 0
    if (asOther) spawnSync('chown', ['-R', 'postgres', folder])
    const program = PROGRAM ?? 'pgbouncer'
    const [name, args] = asOther
      ? ['setpriv', ['--reuid=postgres', '--regid=postgres', '--clear-groups', program, path]]
      : [program, [path]]
    const bouncer = new PgBouncer(port, folder, spawn(name, args, { stdio: ['ignore', 'ignore', 'pipe'] }))
    await bouncer.#untilUp()
    return bouncer
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGINT')
    await this.#exited
    running.delete(this.#child)
    rmSync(this.#folder, { recursive: true, force: true })
  }

  async #untilUp(): Promise<void> {
    const { promise: up, resolve } = Promise.withResolvers<boolean>()
    const look = (): void => {
      if (this.log.includes('process up')) resolve(true)
    }
    this.#child.stderr?.on('data', look)
    void this.#exited.then(() => resolve(false))
    if (!(await up)) throw new Error(`PgBouncer did not start:\n${this.log}`)
  }
}
