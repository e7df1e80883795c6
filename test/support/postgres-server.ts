import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { freePort } from './free-port.ts'

/** Debian's folder with the server's programs; `null` if it is not installed. */
const PROGRAMS: string | null = findPrograms()

export const HAS_POSTGRES: boolean = PROGRAMS !== null
export const SUPERUSER_PASSWORD: string = 'super:se/cr@t'

const QUICK = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  shared_buffers: '64MB',
  max_wal_size: '4GB',
}

export interface Login {
  readonly user?: string
  readonly password?: string
  readonly database?: string
  /** The part of the URL from `?` on. */
  readonly query?: string
}

/** A new server's data, which the files of a run share: making it costs more than all that some of them ask. */
const MADE: string | null =
  process.env['MARQUEE_TEST_FOLDER'] === undefined ? null : join(process.env['MARQUEE_TEST_FOLDER'], 'postgres-data')

const running = new Set<PostgresServer>()
process.on('exit', () => {
  for (const server of running) server.kill()
})

/** A real PostgreSQL server with a temporary folder and a free port. */
export class PostgresServer {
  readonly folder: string
  readonly port: number
  log = ''
  #postmaster: ChildProcess | null = null
  #exited: Promise<unknown> = Promise.resolve()

  private constructor(folder: string, port: number) {
    this.folder = folder
    this.port = port
  }

  static async create(settings: Readonly<Record<string, string>> = {}): Promise<PostgresServer> {
    const server = await PostgresServer.#inNewFolder()
    if (MADE === null || !existsSync(MADE)) server.#makeData()
    else copyFolder(MADE, server.data)
    server.configure({ ...QUICK, ...settings })
    await server.start()
    return server
  }

  #makeData(): void {
    const passwords = join(this.folder, 'password')
    writeFileSync(passwords, SUPERUSER_PASSWORD)
    const args = ['-D', this.data, '-U', 'postgres', '-A', 'scram-sha-256', '--pwfile', passwords]
    this.run('initdb', [...args, '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync'])
    if (MADE === null) return
    const copy = `${MADE}-${process.pid}`
    copyFolder(this.data, copy)
    try {
      renameSync(copy, MADE)
    } catch {
      // Another file was quicker.
      rmSync(copy, { recursive: true })
    }
  }

  /** Starts a standby of `primary`, which needs no settings for that. */
  static async standbyOf(primary: PostgresServer): Promise<PostgresServer> {
    const server = await PostgresServer.#inNewFolder()
    const from = `host=127.0.0.1 port=${primary.port} user=postgres password='${SUPERUSER_PASSWORD}'`
    server.run('pg_basebackup', ['-D', server.data, '-d', from, '-R', '-X', 'stream', '--checkpoint=fast', '--no-sync'])
    await server.start()
    return server
  }

  static async #inNewFolder(): Promise<PostgresServer> {
    const folder = mkdtempSync(join(tmpdir(), 'marquee-postgres-'))
    if (isRoot()) spawnSync('chown', ['postgres', folder])
    return new PostgresServer(folder, await freePort())
  }

  get data(): string {
    return join(this.folder, 'data')
  }

  url({ user = 'postgres', password = SUPERUSER_PASSWORD, database = 'postgres', query = '' }: Login = {}): string {
    const place = `127.0.0.1:${this.port}/${database}`
    return `postgres://${encodeURIComponent(user)}:${encodeURIComponent(password)}@${place}${query}`
  }

  configure(settings: Readonly<Record<string, string>>): void {
    const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'\n`)
    appendFileSync(join(this.data, 'postgresql.conf'), lines.join(''))
  }

  /** Puts lines before all others of pg_hba.conf. */
  allow(lines: string): void {
    const path = join(this.data, 'pg_hba.conf')
    writeFileSync(path, `${lines}\n${readFileSync(path, 'utf8')}`)
  }

  /** Puts a file into the data folder, owned by the server's user. */
  putFile(name: string, text: string): void {
    const path = join(this.data, name)
    writeFileSync(path, text, { mode: 0o600 })
    if (isRoot()) spawnSync('chown', ['postgres', path])
  }

  async start(): Promise<void> {
    const sockets = join(this.folder, 'sockets')
    mkdirSync(sockets, { recursive: true, mode: 0o777 })
    if (isRoot()) spawnSync('chown', ['postgres', sockets])
    const args = ['-D', this.data, '-p', String(this.port), '-k', sockets, '-c', 'listen_addresses=127.0.0.1']
    const [program, given] = asServerUser('postgres', args)
    const child = spawn(program, given, { stdio: ['ignore', 'ignore', 'pipe'], cwd: this.folder })
    this.#postmaster = child
    running.add(this)
    const { promise: ready, resolve } = Promise.withResolvers<boolean>()
    const from = this.log.length
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.log += text
      if (this.log.includes('ready to accept', from)) resolve(true)
    })
    this.#exited = new Promise((ended) => child.on('exit', ended))
    void this.#exited.then(() => resolve(false))
    if (!(await ready)) throw new Error(`PostgreSQL did not start:\n${this.log}`)
  }

  /** Stops the server at once and cuts its connections. */
  async stop(): Promise<void> {
    this.continue()
    this.#postmaster?.kill('SIGINT')
    await this.#exited
    this.#postmaster = null
    running.delete(this)
  }

  async restart(): Promise<void> {
    await this.stop()
    await this.start()
  }

  async remove(): Promise<void> {
    await this.stop()
    rmSync(this.folder, { recursive: true, force: true })
  }

  /** Freezes the server, like a machine that is cut off: connections stay open, nothing arrives. */
  freeze(): void {
    this.#signal('SIGSTOP')
  }

  continue(): void {
    this.#signal('SIGCONT')
  }

  kill(): void {
    this.#signal('SIGKILL')
    rmSync(this.folder, { recursive: true, force: true })
  }

  reload(): void {
    this.#postmaster?.kill('SIGHUP')
  }

  /** Opens a connection as superuser. */
  async admin(database = 'postgres'): Promise<Client> {
    const client = new Client({ connectionString: this.url({ database }) })
    client.on('error', () => {})
    await client.connect()
    return client
  }

  async accepts(): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const socket = connect(this.port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false))
    const accepted = await promise
    socket.destroy()
    return accepted
  }

  run(program: string, args: readonly string[]): void {
    const [name, given] = asServerUser(program, args)
    const { status, stderr } = spawnSync(name, given, { encoding: 'utf8', cwd: this.folder })
    if (status !== 0) throw new Error(`${program} failed: ${stderr}`)
  }

  #signal(name: NodeJS.Signals): void {
    for (const pid of this.#pids()) {
      try {
        process.kill(pid, name)
      } catch (cause) {
        // The backend has just ended by itself.
        if (!(cause instanceof Error && 'code' in cause && cause.code === 'ESRCH')) throw cause
      }
    }
  }

  /** Returns the postmaster and its children, which have separate process groups. */
  #pids(): readonly number[] {
    const postmaster = this.#postmaster?.pid
    if (postmaster === undefined || this.#postmaster?.exitCode !== null) return []
    const children = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && parentOf(name) === postmaster)
    return [postmaster, ...children.map(Number)]
  }
}

/** Copies a folder with its owners. */
function copyFolder(from: string, to: string): void {
  const { status, stderr } = spawnSync('cp', ['-a', from, to], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`cp failed: ${stderr}`)
}

function parentOf(pid: string): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    return -1
  }
}

/** The server refuses to run as root. */
function asServerUser(program: string, args: readonly string[]): readonly [string, readonly string[]] {
  const path = join(PROGRAMS ?? '', program)
  return isRoot()
    ? ['setpriv', ['--reuid=postgres', '--regid=postgres', '--clear-groups', path, ...args]]
    : [path, args]
}

function isRoot(): boolean {
  return process.getuid?.() === 0
}

function findPrograms(): string | null {
  const root = '/usr/lib/postgresql'
  if (!existsSync(root)) return null
  const versions = readdirSync(root).toSorted((left, right) => Number(right) - Number(left))
  return versions.map((version) => join(root, version, 'bin')).find((bin) => existsSync(join(bin, 'initdb'))) ?? null
}
