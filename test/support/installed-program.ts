import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Where a program of the system is, null where it is not installed: the tests that need it are then skipped, and said so. */
export function installedProgram(name: string): string | null {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/bin', '/usr/local/bin', '/bin']
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path)) ?? null
}
