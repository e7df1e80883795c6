import { type LookupAddress, type LookupOptions, lookup as lookUp } from 'node:dns'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { isIP, Socket } from 'node:net'
import type { KeptDescriptors } from './listener.ts'

const REFILL_MS = 1000
const NOTHING = '/dev/null'

type Found = (cause: NodeJS.ErrnoException | null, address: string | LookupAddress[], family?: number) => void

/**
 * Descriptors held open, to be released when all others are in use. Bun accepts connections as long as a descriptor is
 * free, and takes each one that becomes free while a connection waits. But it accepts nothing while our own code runs,
 * so a reserved descriptor is closed directly before the code that needs it.
 */
export class DescriptorReserve implements KeptDescriptors {
  readonly #size: number
  readonly #held: number[] = []
  /** The last addresses of each host. A lookup keeps descriptors open while other code runs. */
  readonly #addresses = new Map<string, readonly [string | LookupAddress[], number | undefined]>()

  constructor(size: number) {
    this.#size = size
    this.#refill()
    setInterval(() => this.#refill(), REFILL_MS).unref()
  }

  /** Runs work that opens a descriptor before it returns. */
  take<Result>(work: () => Result): Result {
    if (isExhausted()) this.#release()
    return work()
  }

  /** Runs work that closes a descriptor before it returns. */
  giveBack(work: () => void): void {
    work()
    this.#refill()
  }

  /** Runs work that connects to a host. For a name, `lookup` provides the descriptor later. */
  connect<Result>(host: string, work: () => Result): Result {
    const made = isIP(host) === 0 ? work() : this.take(work)
    // Refilled at once, before another connection is accepted.
    if (made instanceof Socket) made.once('close', () => this.#refill())
    return made
  }

  /** Returns a socket that uses the reserve when it connects. */
  newSocket(): Socket {
    const socket = new Socket()
    const connect = socket.connect.bind(socket)
    return Object.assign(socket, {
      connect: (port: number | string, host = 'localhost') => {
        if (typeof port === 'string') return this.take(() => connect(port))
        return this.connect(host, () => connect({ port, host, lookup: this.lookup }))
      },
    })
  }

  /** Looks a host up like node:dns. Without a free descriptor it uses the last known addresses. */
  readonly lookup = (host: string, options: LookupOptions, found: Found): void => {
    const key = `${host} ${JSON.stringify(options)}`
    lookUp(host, options, (cause: NodeJS.ErrnoException | null, address: string | LookupAddress[], family?: number) => {
      if (cause === null) this.#addresses.set(key, [address, family])
      const known = isExhausted() ? this.#addresses.get(key) : undefined
      if (known === undefined) return found(cause, address, family)
      // The socket is created before `found` returns.
      this.take(() => found(null, ...known))
    })
  }

  #release(): void {
    const descriptor = this.#held.pop()
    if (descriptor !== undefined) closeSync(descriptor)
  }

  #refill(): void {
    try {
      while (this.#held.length < this.#size) this.#held.push(openSync(NOTHING, 'r'))
    } catch {
      // No descriptor is free now. The next refill tries again.
    }
  }
}

function isExhausted(): boolean {
  try {
    closeSync(openSync(NOTHING, 'r'))
    return false
  } catch {
    return true
  }
}

/**
 * Returns the limit of open file descriptors (`ulimit -n`); Infinity on systems other than Linux, which do not report
 * it.
 */
export function descriptorLimit(): number {
  try {
    const [, soft] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft)
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
