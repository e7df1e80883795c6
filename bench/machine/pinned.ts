import { cpus } from 'node:os'
import { Child } from '../../test/support/child.ts'
import { findTool } from './find-tool.ts'

/** The server has a core of its own; clients and the list writer share the other. */
export const SERVER_CORE = 0
export const CLIENT_CORE = 1

export const CAN_PIN: boolean = findTool('taskset') !== null && cpus().length > 1

/** Returns the command that pins a process and its children to a core; unchanged if that is not possible. */
export function pin(core: number, program: string, args: readonly string[]): readonly [string, readonly string[]] {
  return CAN_PIN ? ['taskset', ['-c', String(core), program, ...args]] : [program, args]
}

/** Starts a process on one core. Its pid is the program's, because taskset replaces itself by the program. */
export function pinned(core: number, program: string, args: readonly string[]): Child {
  return new Child(...pin(core, program, args))
}

/**
 * Resolves to a program's output once it has ended successfully within the time limit; throws with its error output.
 */
export async function outputOf(child: Child, withinMs: number): Promise<string> {
  const timer = setTimeout(() => child.signal('SIGKILL'), withinMs)
  const status = await child.exited
  clearTimeout(timer)
  if (status !== 0) throw new Error(`a program ended with ${status}:\n${child.stdout}${child.stderr}`)
  return child.stdout
}
