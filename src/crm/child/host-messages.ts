import type { ListName } from '../../domain/field.ts'
import type { Failure } from '../../sync/port.ts'
import type { ConnectorOutline, StreamBatch, Way, WayArgument } from '../connector/row-host.ts'
import type { SentSettings } from '../context/given-settings.ts'

/** What the service tells the connector's process, one JSON line each. */
export type ToHost =
  | {
      readonly do: 'start'
      /** Precedes every frame, so that nothing else the process prints is taken for one. */
      readonly key: string
      readonly path: string
      /** The SHA-256 that the file must have. */
      readonly digest: string
      readonly settings: SentSettings
      readonly limits: { readonly requestTimeoutMs: number }
      readonly allowInsecure: boolean
      readonly ca: string | null
      readonly proxy: string | null
      /** The variables that name proxies. */
      readonly env: Readonly<Record<string, string>>
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

/** What the connector's process tells the service: the head of each frame. */
export type FromHost =
  | ({ readonly is: 'ready' } & ConnectorOutline)
  | { readonly is: 'unusable'; readonly message: string }
  /** As many lines follow as there are rows. */
  | ({ readonly is: 'batch'; readonly read: number; readonly rows: number } & Omit<StreamBatch, 'rows'>)
  | { readonly is: 'end'; readonly read: number; readonly cursor: string | null }
  | ({ readonly is: 'failed'; readonly read: number } & Failure)
  | { readonly is: 'hint'; readonly list: ListName }
  | { readonly is: 'waiting'; readonly forMs: number; readonly why: string }
  | { readonly is: 'pong'; readonly residentBytes: number; readonly heldMs: number }
