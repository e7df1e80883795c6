import { setTimeout } from 'node:timers/promises'
import type { CommandContext } from './app/command-context.ts'
import { keepCompiled } from './app/compile-cache.ts'
import { EarlySignals } from './app/early-signals.ts'

/** How long Node waits at its end for requests to the file system and name servers. */
const HELD_UP_MS = 100

const args = process.argv.slice(2)
// The executable also is the process of a user's connector (src/crm/child/module-crm.ts).
if (args[0] === 'connector-host') {
  await import('./app/connector-main.ts')
  await new Promise(() => {})
}
const isService = args[0] === 'serve'
const signals = new EarlySignals((signal, listener) => process.on(signal, listener), isService)
keepCompiled()
const { ANSWER_IS_NO, internalError } = await import('./app/command-context.ts')
const { answer, droppedLines, error, lastLines, out, statusOfOutput } = await import('./app/standard-streams.ts')

const isTerminal = process.stdout.isTTY
const context = { env: process.env, cwd: process.cwd(), isTerminal, out, error, answer, droppedLines, signals }
const ended = await run(context).catch((cause: unknown) => {
  error(internalError(cause))
  return ANSWER_IS_NO
})
await lastLines()
const isStatusTheAnswer = ['ready', 'live', 'accept'].some((name) => args.includes(name))
const status = isService ? ended : await statusOfOutput(ended, isStatusTheAnswer)
if (process.versions['bun'] === undefined && process.platform !== 'win32') {
  // The request whose end brought us here still counts as active in this turn, and others may be about to end.
  for (let left = HELD_UP_MS; left > 0 && isHeldUp(); left -= 5) await setTimeout(5)
  // A thread blocked in a file system or name server would keep Node from exiting. Replacing the process image ends it,
  // but also discards what Node would keep of its compiled sources.
  if (isHeldUp()) {
    process.execve?.(process.execPath, [process.execPath, '--disable-sigusr1', '--eval', `process.exit(${status})`])
  }
}
process.exit(status)

function isHeldUp(): boolean {
  return process.getActiveResourcesInfo().some((name) => /^FSReq|^GetAddrInfo/.test(name))
}

/** Runs the command that the arguments name. Resolves with the exit status. */
async function run(all: CommandContext): Promise<number> {
  const plain = plainServe(args)
  if (plain !== null) return (await import('./app/serve.ts')).serve(plain, all)
  return (await import('./cli/arguments.ts')).runTyped(args, all)
}

/** Recognizes `serve` with its usual options without loading the argument parser; `null` for anything else. */
function plainServe([command, ...options]: readonly string[]): { readonly config: string | undefined } | null {
  if (command !== 'serve') return null
  const [name, file = ''] = options
  if (options.length === 0) return { config: undefined }
  return options.length === 2 && name === '--config' && /^[^-\s]/.test(file) ? { config: file } : null
}
