import { cpus } from 'node:os'
import { Child } from '../../test/support/child.ts'
import { findTool } from './find-tool.ts'

/** The server has a core for itself; clients and the writer of the lists share the other. */
export const SERVER_CORE = 0
export const CLIENT_CORE = 1

export const CAN_PIN: boolean = findTool('taskset') !== null && cpus().length > 1

/** The command that keeps a process, and all it starts, to one core; the command itself where that cannot be done. */
export function pin(core: number, program: string, args: readonly string[]): readonly [string, readonly string[]] {
  return CAN_PIN ? ['taskset', ['-c', String(core), program, ...args]] : [program, args]
}

/** A process on one core. Its id is the program's own: taskset becomes the program. */
export function pinned(core: number, program: string, args: readonly string[]): Child {
  return new Child(...pin(core, program, args))
}

/** What a program printed once it has ended well within so many milliseconds; throws with what it complained of. */
export async function outputOf(child: Child, withinMs: number): Promise<string> {
  const timer = setTimeout(() => child.signal('SIGKILL'), withinMs)
  const status = await child.exited
  clearTimeout(timer)
  if (status !== 0) throw new Error(`a program ended with ${status}:\n${child.stdout}${child.stderr}`)
  return child.stdout
}
