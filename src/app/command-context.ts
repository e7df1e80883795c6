import { existsSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import manifest from '../../package.json' with { type: 'json' }
import { bugPlace } from '../domain/printable.ts'
import { standOf } from '../config/read-configuration.ts'
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

export const FINE = 0
export const ANSWER_IS_NO = 1
export const WRONG_USAGE = 2

/** Reports a bug. Its stack and message would not help the operator. */
export function internalError(cause: unknown): string {
  return `Internal error; please report it: ${bugPlace(cause)}`
}

export const VERSION: string = manifest.version

/** Returns the runtime and its version, for example `Bun 1.4.5`. */
export function runtimeName(): string {
  const bun = process.versions['bun']
  return bun === undefined ? `Node ${process.versions.node}` : `Bun ${bun}`
}

/** Returns the path that starts Marquee: the checkout's launcher, npm's command for the package, or the executable. */
function programPath(): string {
  const isWindows = process.platform === 'win32'
  const launcher = fileURLToPath(new URL(`../../${isWindows ? 'marquee.cmd' : 'marquee'}`, import.meta.url))
  if (!existsSync(launcher)) return process.execPath
  const around = dirname(dirname(launcher))
  // A scoped package lies one folder deeper. npm's command does not work from every Windows shell.
  const modules = [around, dirname(around)].find((folder) => basename(folder) === 'node_modules')
  const command = modules === undefined || isWindows ? launcher : join(modules, '.bin/marquee')
  return existsSync(command) ? command : launcher
}

/**
 * Returns a command line that works in the current directory: `./marquee check` in a checkout,
 * `./node_modules/.bin/marquee check` beside an installed package, otherwise the launcher's whole path.
 */
export function commandLine(
  words: readonly string[],
  { env, cwd }: Pick<CommandContext, 'env' | 'cwd'>,
  program: string = programPath(),
): string {
  const inside = relative(standOf(env, cwd), program)
  const called = inside.startsWith('..') || isAbsolute(inside) ? program : `./${inside}`
  return [called, ...words].map(quoted).join(' ')
}

function quoted(word: string): string {
  if (!/[^\w./\\:@%+=,-]/.test(word)) return word
  return process.platform === 'win32' ? `"${word}"` : `'${word.replaceAll("'", String.raw`'\''`)}'`
}
