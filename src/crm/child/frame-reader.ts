/** Begins every frame of the host, before the key. Everything else that the process writes is its own output. */
export const FRAME_MARK = '\u001e'

const LINE_FEED = 0x0a
/** Longer lines of the process's own output are logged in parts. */
const LONGEST_OWN = 8 * 1024
/** The longest frame that the host writes. A longer one is refused, because it could fill the memory. */
const LONGEST_LINE = 8 * 1024 * 1024

export interface Frame {
  readonly head: unknown
  readonly rows: readonly Buffer[]
}

/** Splits what a connector's process writes into frames, and its own output into lines. */
export class FrameReader {
  readonly #mark: Buffer
  readonly #onFrame: (frame: Frame) => void
  readonly #onOwn: (line: string) => void
  #rest: Buffer[] = []
  #restBytes = 0
  #frame: { readonly head: unknown; readonly rows: Buffer[]; missing: number } | null = null
  /** Whether the output could not be parsed. */
  isBroken = false

  constructor(key: string, onFrame: (frame: Frame) => void, onOwn: (line: string) => void) {
    this.#mark = Buffer.from(`${FRAME_MARK}${key} `)
    this.#onFrame = onFrame
    this.#onOwn = onOwn
  }

  feed(bytes: Buffer): void {
    let from = 0
    for (let at = bytes.indexOf(LINE_FEED); at !== -1; at = bytes.indexOf(LINE_FEED, from)) {
      this.#rest.push(bytes.subarray(from, at))
      const line = this.#rest.length === 1 ? bytes.subarray(from, at) : Buffer.concat(this.#rest)
      ;[this.#rest, this.#restBytes] = [[], 0]
      from = at + 1
      this.#take(line)
    }
    if (from === bytes.length) return
    // A copy: the stream may reuse its memory.
    this.#rest.push(Buffer.from(bytes.subarray(from)))
    this.#restBytes += bytes.length - from
    if (this.#restBytes > LONGEST_LINE) {
      this.isBroken = true
      ;[this.#rest, this.#restBytes] = [[], 0]
    } else if (this.#restBytes > LONGEST_OWN && this.#frame === null) this.#flushOwn()
  }

  /** Passes on the last line of own output, which may lack a line break. */
  end(): void {
    if (this.#frame === null && this.#restBytes > 0) this.#onOwn(Buffer.concat(this.#rest).toString('utf8'))
    ;[this.#rest, this.#restBytes] = [[], 0]
  }

  #flushOwn(): void {
    const rest = Buffer.concat(this.#rest)
    if (rest.includes(this.#mark)) {
      this.#rest = [rest]
      return
    }
    // Keep the last bytes: they may be the beginning of a mark.
    const kept = rest.subarray(Math.max(0, rest.length - this.#mark.length))
    this.#onOwn(rest.toString('utf8', 0, rest.length - kept.length))
    ;[this.#rest, this.#restBytes] = [[kept], kept.length]
  }

  #take(line: Buffer): void {
    const frame = this.#frame
    if (frame !== null) {
      // Copied, because the chunk's memory may be reused.
      frame.rows.push(Buffer.from(line))
      if (--frame.missing === 0) this.#finish(frame)
      return
    }
    const at = line.indexOf(this.#mark)
    const own = at === -1 ? line : line.subarray(0, at)
    if (own.length > 0) this.#onOwn(own.toString('utf8'))
    if (at === -1) return
    const head = parsedHead(line.toString('utf8', at + this.#mark.length))
    const missing = rowsIn(head)
    if (head === null) this.isBroken = true
    else if (missing === 0) this.#onFrame({ head, rows: [] })
    else this.#frame = { head, rows: [], missing }
  }

  #finish({ head, rows }: Frame): void {
    this.#frame = null
    this.#onFrame({ head, rows })
  }
}

function parsedHead(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function rowsIn(head: unknown): number {
  const told = typeof head === 'object' && head !== null && 'rows' in head ? head.rows : 0
  return typeof told === 'number' ? told : 0
}
