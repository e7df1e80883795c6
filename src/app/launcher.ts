import { existsSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { standOf } from '../config/load-configuration.ts'
import type { CommandContext } from './command-context.ts'

/** What starts Marquee: the launcher of the checkout, the command that npm made for the package, or the one executable. */
function programPath(): string {
  const isWindows = process.platform === 'win32'
  const launcher = fileURLToPath(new URL(`../../${isWindows ? 'marquee.cmd' : 'marquee'}`, import.meta.url))
  if (!existsSync(launcher)) return process.execPath
  const around = dirname(dirname(launcher))
  // A package with a scope lies one folder deeper. On Windows npm's own command needs a shell that is not there.
  const modules = [around, dirname(around)].find((folder) => basename(folder) === 'node_modules')
  const command = modules === undefined || isWindows ? launcher : join(modules, '.bin/marquee')
  return existsSync(command) ? command : launcher
}

/**
 * A command line that works where the person stands: `./marquee check` in a checkout, `./node_modules/.bin/marquee check` beside an
 * installed package, the launcher by its path elsewhere.
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
