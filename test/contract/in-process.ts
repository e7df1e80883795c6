import { Buffer } from 'node:buffer'
import { assembleAlone } from '../../src/app/assemble.ts'
import { loadConfiguration } from '../../src/config/read-configuration.ts'
import { readSmallFile } from '../../src/time/read-text.ts'
import { pathnameOfUrl } from '../../src/runtime/listener.ts'
import { type Time, systemTime } from '../../src/time/time.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import { parseReply } from '../support/reply.ts'
import type { Ask, Start } from './subject.ts'

/** A service without a listener. These functions replace the runtime. */
export interface Inside {
  /** Returns the response in the form that would be sent. */
  ask(target: string, ask?: Ask): Promise<Buffer>
  stop(): Promise<void>
}

/** Loads the configuration file, and assembles what it describes without listeners. */
export async function assembledFrom(path: string, time: Time = systemTime) {
  const loaded = await loadConfiguration({ path, env: {}, readFile: readSmallFile })
  if (!loaded.ok) throw new Error('the configuration is wrong', { cause: loaded.problems })
  const { reading, crm, service } = await assembleAlone(loaded.configuration, time, () => {})
  return { replica: reading.replica, crm, service }
}

export async function openInside(configuration: string): Promise<Inside> {
  const { replica, crm, service } = await assembledFrom(configuration)
  replica.start()
  return {
    async ask(target, { method = 'GET', headers = [] }: Ask = {}) {
      const header = (name: string): string | null => {
        const values = headers.filter(([other]) => other.toLowerCase() === name).map(([, value]) => value)
        return values.length === 0 ? null : values.join(', ')
      }
      const answer = await service.answer({ method, target, pathname: pathnameOfUrl(target), header })
      const { values } = answer.etag === '' ? answer.fields : answer.fields.with('ETag', answer.etag)
      const lines = Object.entries(values).map(([name, value]) => `${name}: ${value}\r\n`)
      const body = Buffer.from(answer.body ?? '')
      if (answer.body !== null) lines.push(`Content-Length: ${body.length}\r\n`)
      const head = Buffer.from(`HTTP/1.1 ${answer.status} \r\n${lines.join('')}\r\n`)
      return method === 'HEAD' ? head : Buffer.concat([head, body])
    },
    async stop() {
      await replica.stop()
      await crm.close()
    },
  }
}

/** Starts services with `open`, in this process or another. */
export function startInside(open: (configuration: string) => Promise<Inside>): Start {
  return async (settings, lists) => {
    const directory = new FilesDirectory(settings, lists)
    const inside = await open(directory.configuration)
    return {
      directory,
      ask: async (target, ask) => parseReply(await inside.ask(target, ask)),
      async stop() {
        await inside.stop()
        directory.remove()
      },
    }
  }
}

export const startInProcess: Start = startInside(openInside)
