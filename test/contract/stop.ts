import { describe, expect, it } from 'bun:test'
import { connect } from 'node:net'
import type { Runtime } from '../support/child.ts'
import { Child, ROOT } from '../support/child.ts'
import { eventually } from '../support/eventually.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import { serve, untilListening } from '../support/marquee-process.ts'
import { accepts, exchange } from '../support/raw-client.ts'
import { parseReply } from '../support/reply.ts'
import { requestText } from './over-http.ts'
import { EVENT, EVENT_ROW, LISTS } from './rows.ts'

const TARGET = `/api/events/${EVENT}`
const AT_ONCE = { freshness: { maxAge: 0, refreshEvery: '1h' } }

/** Enough rows that a read is still running when the signal arrives. */
function manyRows(): string {
  const rest = JSON.stringify({ ...EVENT_ROW, Tags: Array.from({ length: 20 }, (_, index) => `tag ${index}`) })
  const rows = Array.from({ length: 20_000 }, (_, index) =>
    rest.replace(EVENT, `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`),
  )
  return `[${[...rows, JSON.stringify(EVENT_ROW)].join(',')}]`
}

/** The end of a service, as a real process. */
export function stopSentences(name: string, runtime: Runtime): void {
  describe(`the end of the service on ${name} (SURFACE: serve)`, () => {
    /** Starts a service with one request that waits for a slow read. */
    async function waiting(settings: object = {}) {
      const directory = new FilesDirectory({ ...AT_ONCE, ...settings }, LISTS)
      const { child, port } = await serve(runtime, directory.configuration)
      directory.write('events', manyRows())
      let isAnswered = false
      const answer = exchange(port, `GET ${TARGET} HTTP/1.1\r\nHost: x\r\n\r\n`).finally(() => (isAnswered = true))
      // Answered at once, after the other request had been accepted.
      expect(parseReply(await exchange(port, requestText('/nothing'))).status).toBe(404)
      return { directory, child, port, answer, isAnswered: () => isAnswered }
    }

    it('SIGTERM completes a waiting request, accepts no new one, and ends with 0 without waiting for idle connections', async () => {
      const limits = { drain: '60s', idle: '75s', waitFor: '60s' }
      const { directory, child, port, answer, isAnswered } = await waiting({ limits })
      const idle = connect({ port, host: '127.0.0.1' })
      idle.on('error', () => {})
      idle.write(`HEAD /nothing HTTP/1.1\r\nHost: x\r\n\r\n`)
      await new Promise((resolve) => idle.once('data', resolve))
      expect(isAnswered()).toBe(false)
      child.signal('SIGTERM')
      const { status, body } = parseReply(await answer)
      expect([status, JSON.parse(body)]).toEqual([200, expect.objectContaining({ Id: EVENT })])
      expect(await child.exited).toBe(0)
      expect(await accepts(port)).toBe(false)
      idle.destroy()
      directory.remove()
    })

    it('closes the remaining connections after limits.drain', async () => {
      const directory = new FilesDirectory({ limits: { drain: '100ms' } }, LISTS)
      const { child, port } = await serve(runtime, directory.configuration)
      const half = connect({ port, host: '127.0.0.1' })
      half.on('error', () => {})
      half.write(`${requestText(TARGET)}GET /api HTTP/1.1\r\nHost: `.replace('Connection: close\r\n', ''))
      await new Promise((resolve) => half.once('data', resolve))
      child.signal('SIGINT')
      expect(await child.exited).toBe(0)
      half.destroy()
      directory.remove()
    })

    it('SIGTERM to npm start reaches the service and ends it', async () => {
      const directory = new FilesDirectory({}, LISTS)
      const script = runtime === 'bun' ? 'start' : 'start:node'
      // npm runs scripts in the package's directory, but a relative path is meant relative to the user's directory.
      const args = ['run', '--prefix', ROOT, script, '--', '--config', 'marquee.yaml']
      const npm = new Child('npm', args, { cwd: directory.path })
      const { port } = await untilListening(npm)
      try {
        expect(parseReply(await exchange(port, requestText(TARGET))).status).toBe(200)
      } finally {
        await npm.stop()
      }
      await eventually(
        () => accepts(port),
        (accepted) => !accepted,
      )
      directory.remove()
    })
  })
}
