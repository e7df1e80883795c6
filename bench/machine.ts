// Programs on cores of their own, and what they use of the machine, as Linux says it.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { cpus, release } from 'node:os'
import { Child, programOf, type Runtime } from '../test/support/child.ts'

export const RUNTIMES: readonly Runtime[] = ['bun', 'node']
export const RUNTIME_NAMES: Readonly<Record<Runtime, string>> = { bun: 'Bun', node: 'Node' }

/** The server has a core of its own; clients and the writer of the list share the other. */
export const SERVER_CORE = 0
export const CLIENT_CORE = 1

const TICK_US = 10_000
const PAGE_BYTES = 4096

/** Finds a program on the path, or where distributions install servers. Throws with the package that has it. */
export function toolOf(name: string, aptPackage: string = name): string {
  const path = `${process.env['PATH'] ?? ''}:/usr/local/sbin:/usr/sbin:/sbin`
  const found = Bun.which(name, { PATH: path })
  if (found === null) throw new Error(`${name} is not installed: apt-get install ${aptPackage}`)
  return found
}

/** Starts a process on one core. Its pid is the program's, because taskset replaces itself by the program. */
export function pinned(
  core: number,
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Child {
  return new Child(toolOf('taskset', 'util-linux'), ['-c', String(core), program, ...args], { env })
}

/** The output of a program that ends successfully within the time limit; throws with its error output. */
export async function outputOf(child: Child, withinMs: number): Promise<string> {
  const timer = setTimeout(() => child.signal('SIGKILL'), withinMs)
  const status = await child.exited
  clearTimeout(timer)
  if (status !== 0) throw new Error(`a program ended with ${status}:\n${child.stdout}${child.stderr}`)
  return child.stdout
}

export interface Usage {
  /** User and kernel time of the process and its descendants, in µs. */
  readonly cpuUs: number
  readonly rssBytes: number
}

/** The resources that a process and its descendants use. */
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

/** The processor and the system. */
export function machine(): string {
  const cores = cpus()
  return `${cores[0]?.model ?? 'a processor of unknown make'}, ${cores.length} cores, Linux ${release()}`
}

/** The versions of both runtimes. */
export function runtimes(): string {
  return `Bun ${Bun.version}, Node ${versionOf(programOf('node'), '--version')}`
}

/** The first version number that a program prints. */
export function versionOf(program: string, option: string): string {
  const { stdout, stderr } = spawnSync(program, [option], { encoding: 'utf8' })
  return /\d+\.\d+(?:\.\d+)*/.exec(stdout + stderr)?.[0] ?? 'of unknown version'
}
