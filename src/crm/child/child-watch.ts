import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { type Failure, failureOf } from '../../sync/port.ts'
import type { Observe } from '../../observe/observation.ts'
import type { GivenSettings } from '../context/given-settings.ts'
import { type Moment, type Time, elapsedMs } from '../../time/time.ts'
import { eachLine } from './each-line.ts'

/**
 * Starts an operator's program in a separate process group, with only PATH in its environment.
 * @param hasChannel whether it has a further channel for its answers, beside its standard output
 */
export function spawnBare(program: string, args: readonly string[], folder: string, hasChannel = false): ChildProcess {
  const path = process.env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin'
  return spawn(program, args, {
    cwd: folder,
    env: { PATH: path },
    stdio: ['pipe', 'pipe', 'pipe', ...(hasChannel ? (['pipe'] as const) : [])],
    detached: process.platform !== 'win32',
    windowsHide: true,
  })
}

export function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return
  try {
    if (process.platform === 'win32') child.kill('SIGKILL')
    else process.kill(-child.pid, 'SIGKILL')
  } catch {
    // It has ended already.
  }
}

const WATCH_EVERY_MS = 250

/** Calls `look` four times a second, until the returned function is called. */
export function watchEvery(time: Time, look: () => void): () => void {
  let cancel = time.after(WATCH_EVERY_MS, again)
  function again(): void {
    cancel = time.after(WATCH_EVERY_MS, again)
    look()
  }
  return () => cancel()
}

/** The memory of a process, without those that it has started, in bytes; `null` if the system does not report it. */
export function residentBytes({ pid }: ChildProcess): number | null {
  try {
    const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return kilobytes === undefined ? null : Number(kilobytes) * 1024
  } catch {
    // The system has no such file, or the process has ended.
    return null
  }
}

export function tooMuchMemory(name: string, bytes: number): Failure {
  const sentence = `${name} took ${Math.round(bytes / 1e6)} MB of memory, more than crm.memory, and was ended`
  return failureOf('too-large', sentence)
}

const LONGEST_LINE = 500
/** The most bytes kept of a line. Far more than is logged: a secret must be complete to be removed. */
const MOST_KEPT = 65_536
const MOST_LINES = 20
const LINES_PER_MS = 60_000

/** Logs what a program prints, without secrets and with a limit of lines per minute. */
export class ChildPrints {
  readonly #name: string
  readonly #settings: Pick<GivenSettings, 'shown'>
  readonly #observe: Observe
  readonly #time: Time
  #since: Moment | null = null
  #lines = 0
  #left = 0

  constructor(name: string, settings: Pick<GivenSettings, 'shown'>, observe: Observe, time: Time) {
    this.#name = name
    this.#settings = settings
    this.#observe = observe
    this.#time = time
  }

  follow(stream: Readable | null): void {
    const take = eachLine(MOST_KEPT, (line) => this.tell(line.toString('utf8')))
    // The last line may lack a line break.
    stream?.on('data', take).on('end', () => take(Buffer.from('\n')))
  }

  tell(line: string): void {
    const text = line.trim()
    if (text === '') return
    const now = this.#time.now()
    if (this.#since === null || elapsedMs(this.#since, now) > LINES_PER_MS) {
      if (this.#left > 0) this.notice(`${this.#name} printed ${this.#left} more lines, which are not logged`)
      this.#since = now
      this.#lines = 0
      this.#left = 0
    }
    this.#lines++
    if (this.#lines > MOST_LINES) this.#left++
    else this.notice(`${this.#name} says: ${text}`)
  }

  notice(message: string): void {
    this.#observe({ kind: 'crm-noticed', message: this.#settings.shown(message, LONGEST_LINE) })
  }
}
