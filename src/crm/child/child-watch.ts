import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
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

const WATCH_EVERY_MS = 100
/** An idle process is looked at so many times more rarely: each look reads many files of `/proc`. */
const IDLE_RARER = 10

/** Calls `look` now and again, until the returned function is called. */
export function watchEvery(time: Time, isIdle: () => boolean, look: () => void): () => void {
  let idle = 0
  let cancel = time.after(0, again)
  function again(): void {
    cancel = time.after(WATCH_EVERY_MS, again)
    idle = isIdle() ? (idle + 1) % IDLE_RARER : 0
    if (idle === 0) look()
  }
  return () => cancel()
}

/** How many processes of the machine are examined at once. Examining all of them at once would hold up requests. */
const ASKED_A_LOOK = 16

/** The memory of a process group: of its first process, and of all that it has started. */
export class GroupMemory {
  readonly #pid: number
  readonly #others = new Set<number>()
  /** The processes of the machine that this round has not examined yet. */
  #unasked: number[] = []

  constructor({ pid = 0 }: ChildProcess) {
    this.#pid = pid
  }

  /** The memory of the group, in bytes; `null` if the system does not report it. */
  get residentBytes(): number | null {
    const own = residentBytes(this.#pid)
    if (own === null) return null
    this.#findOthers()
    let sum = own
    for (const pid of this.#others) {
      const bytes = groupOf(pid) === this.#pid ? residentBytes(pid) : null
      if (bytes === null) this.#others.delete(pid)
      sum += bytes ?? 0
    }
    return sum
  }

  /** Finds what the group's processes have started: at once if its parent still runs, otherwise within a round. */
  #findOthers(): void {
    for (const child of childrenOf(this.#pid)) this.#others.add(child)
    // Iterating a set includes what is added meanwhile, so this finds children of children.
    for (const pid of this.#others) for (const child of childrenOf(pid)) this.#others.add(child)
    if (this.#unasked.length === 0)
      this.#unasked = readdirSync('/proc')
        .map(Number)
        .filter((pid) => pid > 0)
    for (const pid of this.#unasked.splice(-ASKED_A_LOOK))
      if (pid !== this.#pid && groupOf(pid) === this.#pid) this.#others.add(pid)
  }
}

function residentBytes(pid: number): number | null {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(aboutProcess(pid, 'status')) ?? []
  return kilobytes === undefined ? null : Number(kilobytes) * 1024
}

export function tooMuchMemory(name: string, bytes: number): Failure {
  const sentence = `${name} took ${Math.round(bytes / 1e6)} MB of memory, more than crm.memory, and was ended`
  return failureOf('too-large', sentence)
}

/** The group of a process. Its program's name, in brackets, may hold anything. */
function groupOf(pid: number): number {
  return Number(/^ \S+ \d+ (\d+)/.exec(aboutProcess(pid, 'stat').replace(/^.*\)/s, ''))?.[1])
}

/** The processes that the main thread of a process has started. */
function childrenOf(pid: number): readonly number[] {
  return aboutProcess(pid, `task/${pid}/children`)
    .split(' ')
    .map(Number)
    .filter((child) => child > 0)
}

/** Returns a file of `/proc`; empty if the system has none, or the process has ended. */
function aboutProcess(pid: number, file: 'stat' | 'status' | `task/${number}/children`): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}

const LONGEST_LINE = 500
/** The most bytes kept of a line. Far more than is logged: a secret must be complete to be removed. */
const MOST_KEPT = 65_536
const MOST_LINES = 20
const LINES_PER_MS = 60_000

/** Logs what a program prints, without secrets and with a limit of lines per minute. */
export class ChildPrints {
  readonly #name: string
  readonly #given: Pick<GivenSettings, 'shown'>
  readonly #observe: Observe
  readonly #time: Time
  #since: Moment | null = null
  #lines = 0
  #left = 0

  constructor(name: string, given: Pick<GivenSettings, 'shown'>, observe: Observe, time: Time) {
    this.#name = name
    this.#given = given
    this.#observe = observe
    this.#time = time
  }

  follow(stream: Readable | null): void {
    const take = eachLine(MOST_KEPT, (line) => this.tell(line.toString('utf8')))
    // The last line may lack a line break.
    stream?.on('data', take).on('end', () => take(Buffer.from('\n')))
  }

  tell(line: string): void {
    const said = line.trim()
    if (said === '') return
    const now = this.#time.now()
    if (this.#since === null || elapsedMs(this.#since, now) > LINES_PER_MS) {
      if (this.#left > 0) this.notice(`${this.#name} printed ${this.#left} more lines, which are not logged`)
      ;[this.#since, this.#lines, this.#left] = [now, 0, 0]
    }
    if (this.#lines++ >= MOST_LINES) this.#left++
    else this.notice(`${this.#name} says: ${said}`)
  }

  notice(message: string): void {
    this.#observe({ kind: 'crm-noticed', message: this.#given.shown(message, LONGEST_LINE) })
  }
}
