import { readFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import { join } from 'node:path'

const LEAST_READY_BYTES = 128e6
const MOST_READY_BYTES = 2e9
const READY_SHARE = 1 / 8

/** Returns the default of `limits.readyBodies`. */
export function usualReadyBytes(usableBytes: number = usableMemoryBytes()): number {
  return Math.min(MOST_READY_BYTES, Math.max(LEAST_READY_BYTES, Math.floor(usableBytes * READY_SHARE)))
}

/**
 * Returns the memory that this process may use: the lowest limit of its control groups (Linux, version 2 or 1), and at
 * most the machine's memory.
 */
export function usableMemoryBytes(root = '/', machineBytes: number = totalmem()): number {
  let bytes = machineBytes
  for (const line of read(join(root, 'proc/self/cgroup')).split('\n')) {
    // A line `0::/path` names the control group of version 2, `4:memory:/path` one of version 1.
    const [, controllers = '', path = ''] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? []
    if (path === '' || (controllers !== '' && !controllers.split(',').includes('memory'))) continue
    const [mount, file] =
      controllers === '' ? ['sys/fs/cgroup', 'memory.max'] : ['sys/fs/cgroup/memory', 'memory.limit_in_bytes']
    // A limit holds for all groups below it. In a container only the container's own group may be visible, as `/`.
    for (const group of groupsOf(path)) bytes = Math.min(bytes, limitIn(read(join(root, mount, group, file))))
  }
  return bytes
}

/** Returns a path and all of its parents: `/a/b`, `/a` and `/`. */
function groupsOf(path: string): readonly string[] {
  const steps = path.split('/').filter((step) => step !== '' && step !== '..')
  return Array.from({ length: steps.length + 1 }, (_, count) => `/${steps.slice(0, count).join('/')}`)
}

/** Parses a limit; version 2 writes `max` for none, version 1 a number above every machine's memory. */
function limitIn(text: string): number {
  return /^[1-9]\d*\s*$/.test(text) ? Number(text) : Number.POSITIVE_INFINITY
}

/** Returns a file's text; nothing if there is none, as on systems other than Linux. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
