// The commands. In: arguments, the environment, a configuration. Out: lines and an exit status.
// Each command is a file that is imported on demand.
import { bugPlace } from '../domain/printable.ts'
import { type CommandContext, ANSWER_IS_NO } from '../app/command-context.ts'

/** Runs the command that the arguments name. Resolves with the exit status. */
export async function run(args: readonly string[], context: CommandContext): Promise<number> {
  try {
    const plain = plainServe(args)
    if (plain !== null) {
      const { serve } = await import('../app/serve.ts')
      return await serve(plain, context)
    }
    const { runTyped } = await import('./arguments.ts')
    return await runTyped(args, context)
  } catch (error) {
    // A bug. Its stack would not help the operator.
    context.error(`Internal error; please report it: ${bugPlace(error)}`)
    return ANSWER_IS_NO
  }
}

/** Recognizes `serve` with its usual options without loading the argument parser; `null` for anything else. */
function plainServe([command, ...options]: readonly string[]): { readonly config: string | undefined } | null {
  if (command !== 'serve') return null
  const [name, file = ''] = options
  if (options.length === 0) return { config: undefined }
  return options.length === 2 && name === '--config' && /^[^-\s]/.test(file) ? { config: file } : null
}
