import type { ChildProcessByStdio } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'

export const ROOT: string = join(import.meta.dirname, '../..')

/** Where Node keeps what it has compiled, as with `npm run start:node`. */
const COMPILED = join(ROOT, 'node_modules/.cache/marquee')

export type Runtime = 'bun' | 'node'

/** Returns the program of a runtime that the project installs. */
export function programOf(runtime: Runtime): string {
  return runtime === 'bun' ? process.execPath : join(ROOT, 'node_modules/.bin/node')
}

type Spawned = ChildProcessByStdio<Writable | null, Readable, Readable>

const alive = new Set<Spawned>()
// A failing test must not leave a service behind.
process.on('exit', () => {
  for (const child of alive) child.kill('SIGKILL')
})

export interface SpawnOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  /** Runs it in a separate process group, for `signalGroup`, with a standard input, for `type`. */
  readonly interactive?: boolean
}

/** A real process. Its output is collected. */
export class Child {
  stdout = ''
  stderr = ''
  readonly exited: Promise<number | NodeJS.Signals>
  readonly #child: Spawned

  constructor(
    program: string,
    args: readonly string[],
    { cwd = ROOT, env = {}, interactive = false }: SpawnOptions = {},
  ) {
    // Only the environment a shell needs: MARQUEE_CONFIG or npm's variables would change what is run.
    const bare = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', NODE_COMPILE_CACHE: COMPILED }
    const options = { cwd, env: { ...bare, ...env }, detached: interactive }
    const child: Spawned = interactive
      ? spawn(program, args, { ...options, stdio: ['pipe', 'pipe', 'pipe'] })
      : spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
    alive.add(child)
    child.stdout.setEncoding('utf8').on('data', (text: string) => (this.stdout += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (this.stderr += text))
    const { promise, resolve } = Promise.withResolvers<number | NodeJS.Signals>()
    child.on('close', (code, signal) => {
      alive.delete(child)
      resolve(code ?? signal ?? -1)
    })
    child.on('error', (cause) => {
      this.stderr += String(cause)
      resolve(-1)
    })
    this.#child = child
    this.exited = promise
  }

  /** Returns the first whole line of standard output that `isIt` accepts; `null` if the process ends without one. */
  async line(isIt: (line: string) => boolean): Promise<string | null> {
    for (;;) {
      const found = this.stdout.split('\n').slice(0, -1).find(isIt)
      if (found !== undefined) return found
      const data = once(this.#child.stdout, 'data').then(() => false)
      const hasEnded = await Promise.race([data, this.exited.then(() => true)])
      if (hasEnded) return this.stdout.split('\n').find(isIt) ?? null
    }
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name)
  }

  /** Sends a signal to all processes of the group, like a terminal or a supervisor. */
  signalGroup(name: NodeJS.Signals): void {
    process.kill(-this.pid, name)
  }

  type(text: string): void {
    this.#child.stdin?.write(text)
  }

  /** Ends the process by SIGTERM, and by SIGKILL after `patienceMs`. Resolves with the exit status. */
  async stop(patienceMs = 60_000): Promise<number | NodeJS.Signals> {
    this.signal('SIGTERM')
    const timer = setTimeout(() => this.signal('SIGKILL'), patienceMs)
    const status = await this.exited
    clearTimeout(timer)
    return status
  }
}
