// What all connectors share. In: the limits and services of the process. Out: a connector's context, and its time
// limits.

import type { ListName } from '../../domain/field.ts'
import { type FurtherField, type FurtherFields, NO_FURTHER } from '../../domain/further.ts'
import type { Zone } from '../../domain/zone.ts'
import type { Observe } from '../../observe/observation.ts'
import type { Time } from '../../time/time.ts'
import type { MappingContext } from '../mapping/list-setting.ts'
import { type ListSuspicions, listSuspicions } from '../mapping/suspicions.ts'
import { Socket } from 'node:net'

/** Limits that a reload may change: connectors ask for them at each exchange and keep no copy. */
export interface CrmLimits {
  /** The time limit of one exchange with the CRM. */
  readonly requestTimeoutMs: number
  readonly maxAgeMs: number
  /** The size limit of a list, and of an unpacked workbook, in bytes; 2 GB if absent. */
  readonly memoryBytes?: number
  /** The interval of full reads, which is also the longest that one may take; 15 minutes if absent. */
  readonly fullReadEveryMs?: number
  /** The longest pause that a read waits for if the CRM asks for one, in ms; any if absent. */
  readonly longestPauseMs?: number | undefined
}

/** The limits and services that every connector gets. */
export interface ConnectorContext {
  /** The time zone that Start and Finish are shown in. */
  readonly showIn: Zone
  /** Returns the limits now in force. */
  readonly limits: () => CrmLimits
  readonly time: Time
  readonly observe: Observe
  readonly descriptors?: Descriptors
  /** Collects suspicious values in the rows. */
  readonly suspicions?: ListSuspicions
  /** The fields that the organisation declared; absent if there are none. */
  readonly further?: FurtherFields | undefined
  /** Reads cells that are HTML; absent if no field has any. */
  readonly htmlText?: MappingContext['htmlText']
  /** Prints a line for each request to the CRM and for its answer; absent if tracing is off. */
  readonly trace?: ((line: string) => void) | undefined
}

/** What the process gives the mapping of one list. */
export interface ListContext extends Pick<MappingContext, 'showIn' | 'suspicions' | 'htmlText'> {
  readonly further: readonly FurtherField[]
}

export function listContexts({
  showIn,
  suspicions = listSuspicions(),
  further = NO_FURTHER,
  htmlText,
}: Pick<ConnectorContext, 'showIn' | 'suspicions' | 'further' | 'htmlText'>): Readonly<Record<ListName, ListContext>> {
  return {
    events: { showIn, htmlText, suspicions: suspicions.events, further: further.events },
    venues: { showIn, htmlText, suspicions: suspicions.venues, further: further.venues },
  }
}

/**
 * Larger rows are withheld: most likely they hold a document that does not belong there. In CSV they fail the read,
 * because most likely an open quote swallowed other rows.
 */
export const LARGEST_ROW_BYTES: number = 256 * 1024
/**
 * The longest cursor of a connector, in characters: it is kept in every snapshot. Links of Dataverse name all columns;
 * as a request line they may be this long.
 */
export const LONGEST_CURSOR = 16_384

/** The time limit of a page, in ms: each exchange is tried twice, the second time on a fresh connection. */
export function patienceOf({ requestTimeoutMs }: Pick<CrmLimits, 'requestTimeoutMs'>): number {
  return requestTimeoutMs * 2 + 1000
}

/**
 * File descriptors for reading the CRM. The callers' connections may use up all descriptors of the process, so
 * connectors open every file and socket through this.
 */
export interface Descriptors {
  /** Calls a function that opens a file descriptor synchronously. */
  take<Result>(work: () => Result): Result
  /** Calls a function that closes a file descriptor synchronously. */
  giveBack(work: () => void): void
  /** Returns a socket that opens its descriptor through `take` when it connects. */
  newSocket(): Socket
}

/** Unlimited descriptors, for commands that serve no callers. */
export const PLENTY: Descriptors = {
  take: (work) => work(),
  giveBack: (work) => work(),
  newSocket: () => new Socket(),
}
