import { Socket } from 'node:net'

/**
 * File descriptors for the CRM connection. Callers may have taken all that the process may open, so the connectors open
 * everything through this.
 */
export interface Descriptors {
  /** Runs work that takes a descriptor before it returns. */
  take<Result>(work: () => Result): Result
  /** Runs work that returns a descriptor before it returns. */
  giveBack(work: () => void): void
  /** A socket that takes its descriptor through this when it connects. */
  newSocket(): Socket
}

/** Descriptors without a limit: for processes without callers. */
export const PLENTY: Descriptors = {
  take: (work) => work(),
  giveBack: (work) => work(),
  newSocket: () => new Socket(),
}
