import { readFileSync } from 'node:fs'

/** How many file descriptors the process may have open (`ulimit -n`); Infinity where the system does not say, as only Linux does. */
export function descriptorLimit(): number {
  try {
    const [, soft] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft)
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
