import { Buffer } from 'node:buffer'
import { assemble } from '../../src/commands/assemble.ts'
import { loadConfiguration } from '../../src/config/load-configuration.ts'
import { readSmallFile } from '../../src/config/read-text.ts'
import { pathnameOfUrl } from '../../src/runtime/listener.ts'
import { systemTime } from '../../src/replica/time.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import { parseReply } from '../support/reply.ts'
import type { Ask, Start } from './subject.ts'

/** The service as a function, without a listener: what a runtime does is done here. */
export const startInProcess: Start = async (settings, lists) => {
  const directory = new FilesDirectory(settings, lists)
  const loaded = await loadConfiguration({ path: directory.configuration, env: {}, readFile: readSmallFile })
  if (!loaded.ok) throw new Error('the configuration is wrong', { cause: loaded.problems })
  const { replica, crm, service } = await assemble(loaded.configuration, systemTime, () => {})
  replica.start()
  return {
    directory,
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
      return parseReply(method === 'HEAD' ? head : Buffer.concat([head, body]))
    },
    async stop() {
      await replica.stop()
      await crm.close()
      directory.remove()
    },
  }
}
