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
      /** The SHA-256 that the file must have. */
      readonly digest: string
      readonly settings: SentSettings
      readonly limits: Pick<CrmLimits, 'requestTimeoutMs' | 'longestPauseMs'>
      readonly allowInsecure: boolean
      readonly ca: string | null
      readonly proxy: string | null
      /** The environment variables for proxies. */
      readonly env: Readonly<Record<string, string>>
      /** Whether to tell of each request. */
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
