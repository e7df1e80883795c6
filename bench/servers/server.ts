import type { Child } from '../../test/support/child.ts'
import { eventually } from '../../test/support/eventually.ts'

/** A running server. */
export interface Server {
  readonly name: string
  readonly child: Child
  readonly pid: number
  readonly port: number
}

const PATIENCE_MS = 300_000

/** Resolves once the server answers for this event; throws with its output if it ends before. */
export async function untilServing(name: string, child: Child, port: number, id: string): Promise<Server> {
  let ended: number | NodeJS.Signals | null = null
  void child.exited.then((status) => (ended = status))
  await eventually(
    async () => {
      if (ended !== null) throw new Error(`${name} ended with ${ended}:\n${child.stdout}${child.stderr}`)
      return statusOf(eventUrl(port, id))
    },
    (status) => status === 200,
    PATIENCE_MS,
  )
  return { name, child, pid: child.pid, port }
}

export function eventUrl(port: number, id: string): string {
  return `http://127.0.0.1:${port}/api/events/${id}`
}

/** The status of an answer; 0 if nothing listens yet. */
async function statusOf(url: string): Promise<number> {
  try {
    const response = await fetch(url)
    await response.arrayBuffer()
    return response.status
  } catch {
    return 0
  }
}
