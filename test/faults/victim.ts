import { readdirSync, readFileSync } from 'node:fs'
import type { Runtime } from '../support/child.ts'
import { eventually } from '../support/eventually.ts'
import type { Lists, Settings } from '../support/files-directory.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import type { MarqueeProcess } from '../support/marquee-process.ts'
import { serve } from '../support/marquee-process.ts'
import { exchange } from '../support/raw-client.ts'
import type { Reply } from '../support/reply.ts'
import { parseReply } from '../support/reply.ts'

/** A service as a real process, of which can be read what an attack costs it (Linux: /proc). */
export class Victim {
  readonly runtime: Runtime
  readonly directory: FilesDirectory
  readonly process: MarqueeProcess

  private constructor(runtime: Runtime, directory: FilesDirectory, process: MarqueeProcess) {
    this.runtime = runtime
    this.directory = directory
    this.process = process
  }

  static async start(runtime: Runtime, settings: Settings, lists: Lists | null): Promise<Victim> {
    // A loaded machine takes long for the first read of a large list, which the first request waits for.
    const limits = { waitFor: '2m', ...limitsOf(settings) }
    const directory = new FilesDirectory({ ...settings, limits }, lists)
    return new Victim(runtime, directory, await serve(runtime, directory.configuration))
  }

  get port(): number {
    return this.process.port
  }

  get pid(): number {
    return this.process.child.pid
  }

  get residentMb(): number {
    return residentMb(this.pid)
  }

  get descriptors(): number {
    return descriptorsOf(this.pid)
  }

  /** A good request on a connection of its own. */
  async ask(target: string): Promise<Reply> {
    const text = `GET ${target} HTTP/1.1\r\nHost: marquee.example\r\nConnection: close\r\n\r\n`
    return parseReply(await exchange(this.port, text))
  }

  /** Resolves when no more descriptors are open than there were. */
  async letGo(before: number): Promise<void> {
    await eventually(
      async () => this.descriptors,
      (now) => now <= before,
    )
  }

  async stop(): Promise<number | NodeJS.Signals> {
    const status = await this.process.child.stop()
    this.directory.remove()
    return status
  }
}

function limitsOf({ limits }: Settings): object {
  return typeof limits === 'object' && limits !== null ? limits : {}
}

export function residentMb(pid: number): number {
  const kb = Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
  return kb / 1024
}

function descriptorsOf(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length
}
