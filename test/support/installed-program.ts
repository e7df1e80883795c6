import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/**
 * Returns the path of a system program; `null` if it is not installed. Tests that need it are then skipped, with a
 * message.
 */
export function installedProgram(name: string): string | null {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/bin', '/usr/local/bin', '/bin']
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path)) ?? null
}
