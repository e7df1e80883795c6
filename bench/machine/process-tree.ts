import { readdirSync, readFileSync } from 'node:fs'

export interface Usage {
  /** User and kernel time of the process and its descendants, in µs. */
  readonly cpuUs: number
  readonly rssBytes: number
}

const TICK_US = 10_000
const PAGE_BYTES = 4096

/** The resources used by a process and its descendants, according to Linux. */
export function usageOf(root: number): Usage {
  const children = childrenByParent()
  let cpuUs = 0
  let rssBytes = 0
  const queue = [root]
  for (let pid = queue.pop(); pid !== undefined; pid = queue.pop()) {
    const fields = statOf(pid)
    if (fields === null) continue
    cpuUs += (Number(fields[11]) + Number(fields[12])) * TICK_US
    rssBytes += Number(fields[21]) * PAGE_BYTES
    queue.push(...(children.get(pid) ?? []))
  }
  return { cpuUs, rssBytes }
}

/** The current resident memory of the process itself. */
export function residentBytes(pid: number): number {
  return Number(statOf(pid)?.[21] ?? 0) * PAGE_BYTES
}

/** The peak resident memory of the process itself (VmHWM). */
export function peakRssBytes(pid: number): number {
  const line = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return Number(line?.[1] ?? 0) * 1024
}

function childrenByParent(): Map<number, number[]> {
  const children = new Map<number, number[]>()
  for (const name of readdirSync('/proc')) {
    const pid = Number(name)
    const fields = Number.isInteger(pid) ? statOf(pid) : null
    if (fields === null) continue
    const parent = Number(fields[1])
    children.set(parent, [...(children.get(parent) ?? []), pid])
  }
  return children
}

/** The fields of /proc/PID/stat after the command's name, which may contain blanks. */
function statOf(pid: number): readonly string[] | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')
  } catch {
    return null
  }
}
