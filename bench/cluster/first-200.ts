import type { Runtime } from '../../test/support/child.ts'
import { Child, programOf } from '../../test/support/child.ts'
import { FilesDirectory } from '../../test/support/files-directory.ts'
import { freePort } from '../../test/support/free-port.ts'
import { untilAnswered } from '../load/first-answer.ts'
import { COMPILE_CACHE } from '../parts/start.ts'
import { SOURCE } from '../servers/marquee.ts'

/** Measures the time from spawning a process until it answers 200 for this event, in ms; then ends the process. */
export async function first200Ms(
  runtime: Runtime,
  settings: Readonly<Record<string, unknown>>,
  id: string,
): Promise<number> {
  const port = await freePort()
  const folder = new FilesDirectory({ snapshot: null, ...settings, listen: { port } }, null)
  const args = [...SOURCE, 'serve', '--config', folder.configuration]
  const fromMs = performance.now()
  const child = new Child(programOf(runtime), args, { env: COMPILE_CACHE })
  await untilAnswered(port, id)
  const ms = performance.now() - fromMs
  await child.stop()
  folder.remove()
  return ms
}
