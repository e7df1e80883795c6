import { existsSync, readFileSync } from 'node:fs'

const LIMITS = '/proc/self/limits'
/** The number that every system allows. */
const MODEST = 1024

/**
 * The number of files that a process may open. Children inherit this process's limit, which Bun raises as far as
 * possible.
 */
export function openFilesAllowed(): number {
  return allowedBy(existsSync(LIMITS) ? readFileSync(LIMITS, 'utf8') : '')
}

/** Parses the soft limit from the text of /proc/PID/limits. */
export function allowedBy(limits: string): number {
  const soft = /^Max open files\s+(\d+|unlimited)/m.exec(limits)?.[1]
  if (soft === undefined) return MODEST
  return soft === 'unlimited' ? Infinity : Number(soft)
}
