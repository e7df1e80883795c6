import type { ListName } from '../../domain/field.ts'
import type { Failure } from '../../sync/port.ts'
import type { ConnectorOutline, Hint, Purpose, RowsEnd, StreamBatch, Way, WayArgument } from '../connector/row-host.ts'
import type { SentSettings } from '../context/given-settings.ts'
import type { CrmLimits } from '../kit/crm-limits.ts'
import { eachLine } from './each-line.ts'

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
      readonly purpose: Purpose
    }
  | { readonly do: 'settings'; readonly settings: SentSettings }
  | { readonly do: 'next'; readonly read: number }
  | { readonly do: 'close'; readonly read: number }
  | { readonly do: 'ping' }
  /** Closes the connector and ends the process. */
  | { readonly do: 'end' }

/** The head of a frame from the connector's process to the service. */
export type FromHost =
  | ({ readonly is: 'ready' } & ConnectorOutline)
  | { readonly is: 'unusable'; readonly message: string }
  /** The connector's file is about to be imported, which may block the event loop. */
  | { readonly is: 'loading' }
  /** `rows` lines follow, one for each row. */
  | ({ readonly is: 'batch'; readonly read: number; readonly rows: number; readonly places?: readonly string[] } & Omit<
      StreamBatch,
      'rows' | 'at'
    >)
  | ({ readonly is: 'end'; readonly read: number } & Extract<RowsEnd, { ok: true }>)
  | ({ readonly is: 'failed'; readonly read: number } & Failure)
  | { readonly is: 'hint'; readonly list: ListName; readonly hint: Hint }
  | { readonly is: 'notice'; readonly list: ListName; readonly sentence: string }
  | { readonly is: 'waiting'; readonly forMs: number; readonly why: string }
  /** A request to the CRM, or the beginning of its answer. */
  | { readonly is: 'traced'; readonly line: string }
  | { readonly is: 'pong'; readonly residentBytes: number }

/** The longest line that the host writes. A longer one is refused, because it could fill the memory. */
const LONGEST_LINE = 8 * 1024 * 1024

export interface Frame {
  readonly head: FromHost
  readonly rows: readonly Buffer[]
}

/**
 * Splits what the host sends into frames: a line of JSON, and the rows that it announces. Passes null for anything
 * else.
 */
export function eachFrame(onFrame: (frame: Frame | null) => void): (bytes: Buffer) => void {
  let head: FromHost | null = null
  let rows: Buffer[] = []
  let missing = 0
  return eachLine(LONGEST_LINE, (line, isCut) => {
    if (missing > 0) {
      rows.push(line)
      missing--
    } else {
      head = headIn(line.toString('utf8'))
      rows = []
      missing = head?.is === 'batch' ? head.rows : 0
    }
    if (head === null || isCut) onFrame(null)
    else if (missing === 0) onFrame({ head, rows })
  })
}

function headIn(text: string): FromHost | null {
  try {
    const head: unknown = JSON.parse(text)
    return isFromHost(head) ? head : null
  } catch {
    return null
  }
}

function isFromHost(head: unknown): head is FromHost {
  return typeof head === 'object' && head !== null && 'is' in head
}
