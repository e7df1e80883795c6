import { Socket } from 'node:net'

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
