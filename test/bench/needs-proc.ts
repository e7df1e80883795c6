import { describe } from 'bun:test'
import { existsSync } from 'node:fs'

const HAS_PROC = existsSync('/proc/self/stat')

/**
 * As `describe`, where Linux's /proc tells what a process used; where not, it says so and the tests count as skipped.
 */
export function describeWithProc(name: string, body: () => void): void {
  if (!HAS_PROC) console.warn(`SKIPPED, for there is no /proc, as Linux has it, to read processor time from: ${name}`)
  describe.skipIf(!HAS_PROC)(name, body)
}
