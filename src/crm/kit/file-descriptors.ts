import { Socket } from 'node:net'

/**
 * File descriptors for what a CRM needs: callers may have taken all that the process may open. Whatever takes one for the
 * CRM's sake goes through here.
 */
export interface Descriptors {
  /** Runs what takes a descriptor before it returns. */
  take<Result>(work: () => Result): Result
  /** Runs what gives it back before it returns. */
  giveBack(work: () => void): void
  /** A socket that takes its descriptor so when it connects. */
  newSocket(): Socket
}

/** Where nobody takes them all. */
export const PLENTY: Descriptors = {
  take: (work) => work(),
  giveBack: (work) => work(),
  newSocket: () => new Socket(),
}
