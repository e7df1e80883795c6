import { existsSync, readFileSync } from 'node:fs'

const LIMITS = '/proc/self/limits'
/** What any system allows a process. */
const MODEST = 1024

/** How many files a process may have open: a child inherits the limit of this one, which Bun raises as far as it may. */
export function openFilesAllowed(): number {
  return allowedBy(existsSync(LIMITS) ? readFileSync(LIMITS, 'utf8') : '')
}

/** By the soft limit in the text of /proc/PID/limits. */
export function allowedBy(limits: string): number {
  const soft = /^Max open files\s+(\d+|unlimited)/m.exec(limits)?.[1]
  if (soft === undefined) return MODEST
  return soft === 'unlimited' ? Infinity : Number(soft)
}
