import { join } from 'node:path'
import { runTyped } from '../../src/cli/arguments.ts'
import type { Runtime, SpawnOptions } from '../support/child.ts'
import { Child, programOf, ROOT } from '../support/child.ts'

export interface Ended {
  readonly status: number | NodeJS.Signals
  readonly stdout: string
  readonly stderr: string
}

interface CommandOptions extends SpawnOptions {
  readonly runtime?: Runtime
}

const MAIN = join(ROOT, 'src/main.ts')

/** Variables that the runtime itself reads when its process starts. */
const OF_THE_RUNTIME = /^(?:NODE|BUN|npm)_|^(?:TZ|TMPDIR)$|proxy/i

/**
 * Runs `marquee` with these arguments to its end, as a person who stands in `cwd` would. On Bun it runs in this process,
 * which saves the start of another, unless it is `serve` or a variable needs a process of its own.
 */
export async function runCommand(args: readonly string[], options: CommandOptions = {}): Promise<Ended> {
  const { runtime = 'bun', env = {}, cwd = ROOT } = options
  const isElsewhere = runtime !== 'bun' || args.includes('serve') || Object.keys(env).some(isOfTheRuntime)
  if (isElsewhere) return runProcess(args, options)
  let stdout = ''
  let stderr = ''
  const status = await runTyped(args, {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env },
    cwd,
    isTerminal: false,
    out: (line) => {
      stdout += `${line}\n`
    },
    error: (line) => {
      stderr += `${line}\n`
    },
    answer: (text) => {
      stdout += `${text}\n`
      return Promise.resolve(true)
    },
  })
  return { status, stdout, stderr }
}

/** Runs `marquee` in a process of its own, on any runtime. */
async function runProcess(args: readonly string[], options: CommandOptions = {}): Promise<Ended> {
  const child = startCommand(args, options)
  const status = await child.exited
  return { status, stdout: child.stdout, stderr: child.stderr }
}

export function startCommand(args: readonly string[], { runtime = 'bun', ...options }: CommandOptions = {}): Child {
  return new Child(programOf(runtime), [MAIN, ...args], options)
}

function isOfTheRuntime(name: string): boolean {
  return OF_THE_RUNTIME.test(name)
}

/** What no command may ever print. */
export const STACK: RegExp = /\n\s+at |\.ts:\d+:\d+|node_modules/
