import { existsSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { standOf } from '../config/load-configuration.ts'
import type { CommandContext } from './command-context.ts'

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
