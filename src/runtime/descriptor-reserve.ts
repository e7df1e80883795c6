import { type LookupAddress, type LookupOptions, lookup as lookUp } from 'node:dns'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { isIP, Socket } from 'node:net'

const REFILL_MS = 1000
const NOTHING = '/dev/null'

type Found = (cause: NodeJS.ErrnoException | null, address: string | LookupAddress[], family?: number) => void

/**
 * Descriptors that are held open to be let go when all others are taken. Bun accepts connections as long as there is a
 * descriptor, and takes each that comes free while any waits to be accepted; but it accepts nothing while our own code runs.
 * So one is let go just before it is taken again.
 */
export class DescriptorReserve {
  readonly #size: number
  readonly #held: number[] = []
  /** What hosts were found at last: to look one up takes descriptors for longer than our code runs. */
  readonly #addresses = new Map<string, readonly [string | LookupAddress[], number | undefined]>()

  constructor(size: number) {
    this.#size = size
    this.#refill()
    setInterval(() => this.#refill(), REFILL_MS).unref()
  }

  /** Runs what takes a descriptor before it returns. */
  take<Result>(work: () => Result): Result {
    if (isExhausted()) this.#release()
    return work()
  }

  /** Runs what gives it back before it returns. */
  giveBack(work: () => void): void {
    work()
    this.#refill()
  }

  /** Runs what connects to a host; a name is looked up first, by `lookup`, which then takes the descriptor. */
  connect<Result>(host: string, work: () => Result): Result {
    const made = isIP(host) === 0 ? work() : this.take(work)
    // What was let go for it comes back, before anybody else is accepted.
    if (made instanceof Socket) made.once('close', () => this.#refill())
    return made
  }

  /** A socket that takes its descriptor so when it connects. */
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

  /** Looks a host up, as node:dns does; where no descriptor is left, from memory. */
  readonly lookup = (host: string, options: LookupOptions, found: Found): void => {
    const key = `${host} ${JSON.stringify(options)}`
    lookUp(host, options, (cause: NodeJS.ErrnoException | null, address: string | LookupAddress[], family?: number) => {
      if (cause === null) this.#addresses.set(key, [address, family])
      const known = isExhausted() ? this.#addresses.get(key) : undefined
      if (known === undefined) return found(cause, address, family)
      // The socket is made before `found` returns.
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
      // None is free now: some later.
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

/** How many file descriptors the process may have open (`ulimit -n`); Infinity where the system does not say, as only Linux does. */
export function descriptorLimit(): number {
  try {
    const [, soft] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft)
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
