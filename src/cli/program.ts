// The room of the commands: what a person types, and what puts all parts together (assemble.ts, serve.ts).
// In: arguments, the environment, a configuration. Out: lines, an exit status, and for `serve` two listeners.
// A command is a file that is loaded when it is asked for; nothing else of ours imports from here.
import { bugPlace } from '../observe/printable.ts'
import { type CommandContext, ANSWER_IS_NO } from '../app/command-context.ts'

/** Runs the command the arguments name; resolves with the exit status. */
export async function run(args: readonly string[], surroundings: CommandContext): Promise<number> {
  try {
    const plain = plainServe(args)
    if (plain !== null) {
      const { serve } = await import('../app/serve.ts')
      return await serve(plain, surroundings)
    }
    const { runTyped } = await import('./arguments.ts')
    return await runTyped(args, surroundings)
  } catch (error) {
    // A bug of ours; a stack would tell the operator nothing.
    surroundings.error(`Internal error; please report it: ${bugPlace(error)}`)
    return ANSWER_IS_NO
  }
}

/** `serve` as services are started, which needs no parser to be loaded; null for all else, mistakes too. */
function plainServe([command, ...options]: readonly string[]): { readonly config: string | undefined } | null {
  if (command !== 'serve') return null
  const [name, file = ''] = options
  if (options.length === 0) return { config: undefined }
  return options.length === 2 && name === '--config' && /^[^-\s]/.test(file) ? { config: file } : null
}
