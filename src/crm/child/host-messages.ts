import type { ListName } from '../../domain/field.ts'
import type { Failure } from '../../sync/port.ts'
import type { ConnectorOutline, StreamBatch, Way, WayArgument } from '../connector/row-host.ts'
import type { SentSettings } from '../context/given-settings.ts'
import type { CrmLimits } from '../kit/crm-limits.ts'

/** The file descriptor to which the connector's process writes its frames. */
export const CHANNEL = 3

/** A message from the service to the connector's process: one line of JSON. */
export type ToHost =
  | {
      readonly do: 'start'
      readonly path: string
      readonly digest: string
      readonly settings: SentSettings
      readonly limits: Pick<CrmLimits, 'requestTimeoutMs' | 'longestPauseMs'>
      readonly allowInsecure: boolean
      readonly ca: string | null
      readonly proxy: string | null
      readonly env: Readonly<Record<string, string>>
      readonly isTraced: boolean
    }
  | {
      readonly do: 'open'
      readonly read: number
      readonly list: ListName
      readonly way: Way
      readonly argument: WayArgument
    }
  | { readonly do: 'settings'; readonly settings: SentSettings }
  | { readonly do: 'next'; readonly read: number }
  | { readonly do: 'close'; readonly read: number }
  | { readonly do: 'ping' }

/** The head of a frame from the connector's process to the service. */
export type FromHost =
  | ({ readonly is: 'ready' } & ConnectorOutline)
  | { readonly is: 'unusable'; readonly message: string }
  /** `rows` lines follow, one for each row. */
  | ({ readonly is: 'batch'; readonly read: number; readonly rows: number } & Omit<StreamBatch, 'rows'>)
  | { readonly is: 'end'; readonly read: number; readonly cursor: string | null }
  | ({ readonly is: 'failed'; readonly read: number } & Failure)
  /** A read that was given up has ended. */
  | { readonly is: 'closed'; readonly read: number }
  | { readonly is: 'hint'; readonly list: ListName }
  | { readonly is: 'waiting'; readonly forMs: number; readonly why: string }
  /** A request to the CRM, or the beginning of its answer. */
  | { readonly is: 'traced'; readonly line: string }
  | { readonly is: 'pong'; readonly residentBytes: number; readonly heldMs: number }

const LINE_FEED = 0x0a
/** The longest line that the host writes. A longer one is refused, because it could fill the memory. */
const LONGEST_LINE = 8 * 1024 * 1024

export interface Frame {
  readonly head: unknown
  readonly rows: readonly Buffer[]
}

/** Splits what the host sends into frames: a line of JSON, and the rows that it announces. */
export class FrameReader {
  readonly #onFrame: (frame: Frame) => void
  #rest: Buffer[] = []
  #restBytes = 0
  #frame: { readonly head: unknown; readonly rows: Buffer[]; missing: number } | null = null
  /** Whether the host sent something that cannot be parsed. */
  isBroken = false

  constructor(onFrame: (frame: Frame) => void) {
    this.#onFrame = onFrame
  }

  feed(bytes: Buffer): void {
    let from = 0
    for (let at = bytes.indexOf(LINE_FEED); at !== -1; at = bytes.indexOf(LINE_FEED, from)) {
      this.#rest.push(bytes.subarray(from, at))
      // A copy: the stream may reuse its memory.
      const line = Buffer.concat(this.#rest)
      ;[this.#rest, this.#restBytes] = [[], 0]
      from = at + 1
      this.#take(line)
    }
    if (from === bytes.length) return
    this.#rest.push(Buffer.from(bytes.subarray(from)))
    this.#restBytes += bytes.length - from
    if (this.#restBytes <= LONGEST_LINE) return
    this.isBroken = true
    ;[this.#rest, this.#restBytes] = [[], 0]
  }

  #take(line: Buffer): void {
    const frame = this.#frame
    if (frame === null) {
      const head = parsedHead(line.toString('utf8'))
      const missing = rowsIn(head)
      if (head === null) this.isBroken = true
      else if (missing === 0) this.#onFrame({ head, rows: [] })
      else this.#frame = { head, rows: [], missing }
      return
    }
    frame.rows.push(line)
    if (--frame.missing > 0) return
    this.#frame = null
    this.#onFrame(frame)
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
