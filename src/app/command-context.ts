import manifest from '../../package.json' with { type: 'json' }
import type { EarlySignals } from './early-signals.ts'

/** What a command has of the world; passed in, for tests. */
export interface CommandContext {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** Standard output is a terminal: a person reads along. */
  readonly isTerminal: boolean
  readonly out: (line: string) => void
  readonly error: (line: string) => void
  /** Writes a text of any length to standard output, and waits for whoever reads it; false, and said, where that fails. */
  readonly answer: (text: string) => Promise<boolean>
  /** Lines that could not be written: a full disk, a reader that is gone or stands still. */
  readonly droppedLines?: () => number
  /** The signals that came since the process began. */
  readonly signals?: EarlySignals
}

/** The exit statuses of every command. */
export const FINE = 0
export const ANSWER_IS_NO = 1
export const WRONG_USAGE = 2

/** The version of this Marquee, as package.json has it. */
export const VERSION: string = manifest.version

/** The runtime and its version, such as `Bun 1.4.5`. */
export function runtimeName(): string {
  const bun = process.versions['bun']
  return bun === undefined ? `Node ${process.versions.node}` : `Bun ${bun}`
}
