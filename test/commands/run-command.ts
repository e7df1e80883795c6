import { join } from 'node:path'
import type { Runtime, SpawnOptions } from '../support/child.ts'
import { Child, programOf, ROOT } from '../support/child.ts'

export interface Ended {
  readonly status: number | NodeJS.Signals
  readonly stdout: string
  readonly stderr: string
}

const MAIN = join(ROOT, 'src/main.ts')

/** Runs `marquee` with these arguments to its end, as a person who stands in `cwd` would. */
export async function runCommand(
  args: readonly string[],
  options: SpawnOptions & { readonly runtime?: Runtime } = {},
): Promise<Ended> {
  const child = startCommand(args, options)
  const status = await child.exited
  return { status, stdout: child.stdout, stderr: child.stderr }
}

export function startCommand(
  args: readonly string[],
  { runtime = 'bun', ...options }: SpawnOptions & { readonly runtime?: Runtime } = {},
): Child {
  return new Child(programOf(runtime), [MAIN, ...args], options)
}

/** What no command may ever print. */
export const STACK: RegExp = /\n\s+at |\.ts:\d+:\d+|node_modules/
