import { existsSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { standOf } from '../config/load-configuration.ts'
import type { CommandContext } from './command-context.ts'

/** What starts Marquee: the launcher of the checkout, or the one executable. */
function programPath(): string {
  const name = process.platform === 'win32' ? 'marquee.cmd' : 'marquee'
  const launcher = fileURLToPath(new URL(`../../${name}`, import.meta.url))
  return existsSync(launcher) ? launcher : process.execPath
}

/** A command line that works where the person stands: `./marquee check` in a checkout, the launcher by its path elsewhere. */
export function commandLine(
  words: readonly string[],
  { env, cwd }: Pick<CommandContext, 'env' | 'cwd'>,
  program: string = programPath(),
): string {
  const called = dirname(program) === standOf(env, cwd) ? `./${basename(program)}` : program
  return [called, ...words].map(quoted).join(' ')
}

function quoted(word: string): string {
  if (!/[^\w./\\:@%+=,-]/.test(word)) return word
  return process.platform === 'win32' ? `"${word}"` : `'${word.replaceAll("'", String.raw`'\''`)}'`
}
