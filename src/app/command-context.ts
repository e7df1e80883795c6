import manifest from '../../package.json' with { type: 'json' }
import type { EarlySignals } from './early-signals.ts'

/** The process as a command sees it. Tests pass in their own. */
export interface CommandContext {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** Whether standard output is a terminal. */
  readonly isTerminal: boolean
  readonly out: (line: string) => void
  readonly error: (line: string) => void
  /** Writes a text of any length to standard output and waits until it is out. Reports a failure and returns false. */
  readonly answer: (text: string) => Promise<boolean>
  /** The number of lines that could not be written: the disk is full, or the reader is gone or stalled. */
  readonly droppedLines?: () => number
  /** The signals received since the process began. */
  readonly signals?: EarlySignals
}

/** The exit statuses of every command. */
export const FINE = 0
export const ANSWER_IS_NO = 1
export const WRONG_USAGE = 2

/** The version in package.json. */
export const VERSION: string = manifest.version

/** Returns the runtime and its version, for example `Bun 1.4.5`. */
export function runtimeName(): string {
  const bun = process.versions['bun']
  return bun === undefined ? `Node ${process.versions.node}` : `Bun ${bun}`
}
