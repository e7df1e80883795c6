import type { Runtime } from '../support/child.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import type { MarqueeProcess } from '../support/marquee-process.ts'
import { serve } from '../support/marquee-process.ts'
import { exchange } from '../support/raw-client.ts'
import { parseReply } from '../support/reply.ts'
import type { Ask, Start, Subject } from './subject.ts'

export interface HttpSubject extends Subject {
  readonly process: MarqueeProcess
}

/** `./marquee serve` as a separate process, queried over a socket byte by byte. */
export function startOverHttp(runtime: Runtime): (...given: Parameters<Start>) => Promise<HttpSubject> {
  return async (settings, lists) => {
    const directory = new FilesDirectory(settings, lists)
    const process = await serve(runtime, directory.configuration)
    return {
      directory,
      process,
      async ask(target, ask) {
        return parseReply(await exchange(process.port, requestText(target, ask)))
      },
      async stop() {
        await process.child.stop()
        directory.remove()
      },
    }
  }
}

/** Returns a request that closes its connection after the response. */
export function requestText(target: string, { method = 'GET', headers = [] }: Ask = {}): string {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${target} HTTP/1.1\r\nHost: marquee.example\r\nConnection: close\r\n${lines.join('')}\r\n`
}
