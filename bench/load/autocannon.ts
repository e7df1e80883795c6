import type { ChildProcessByStdio } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { programOf } from '../../test/support/child.ts'
import { CLIENT_CORE, pin } from '../machine/pinned.ts'
import type { Load, Loader } from './callers.ts'
import type { Popularity } from './zipf.ts'

/** A single autocannon process for all loads, so it compiles only once. */
export class Autocannon implements Loader {
  readonly #process: ChildProcessByStdio<Writable, Readable, null>
  readonly #lines: AsyncIterator<string>

  constructor(idsFile: string, popularity: Popularity = 'even') {
    const [program, args] = pin(CLIENT_CORE, programOf('node'), [
      join(import.meta.dirname, 'autocannon-client.ts'),
      idsFile,
      popularity,
    ])
    const client = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] })
    process.on('exit', () => client.kill('SIGKILL'))
    this.#process = client
    this.#lines = createInterface(client.stdout)[Symbol.asyncIterator]()
  }

  get pid(): number {
    return this.#process.pid ?? 0
  }

  async load(port: number, seconds: number): Promise<Load> {
    this.#process.stdin.write(`${JSON.stringify({ port, seconds })}\n`)
    const line = await this.#lines.next()
    if (line.done === true) throw new Error('autocannon ended')
    return JSON.parse(line.value) as Load
  }

  async stop(): Promise<void> {
    const ended = once(this.#process, 'exit')
    this.#process.kill()
    await ended
  }
}
