import { describe, expect, it } from 'bun:test'
import { connect } from 'node:net'
import type { Runtime } from '../support/child.ts'
import { Child, ROOT } from '../support/child.ts'
import { eventually } from '../support/eventually.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import { heldList } from '../support/held-list.ts'
import { serve, untilListening } from '../support/marquee-process.ts'
import { askOperations } from '../support/operations-client.ts'
import { accepts, exchange } from '../support/raw-client.ts'
import { parseReply } from '../support/reply.ts'
import { requestText } from './over-http.ts'
import { EVENT, EVENT_ROW, LISTS } from './rows.ts'

const TARGET = `/api/events/${EVENT}`

/** The end of a service, as a real process. */
export function stopSentences(name: string, runtime: Runtime): void {
  describe(`the end of the service on ${name} (SURFACE: serve)`, () => {
    it('SIGTERM completes a waiting request, accepts no new one, and ends with 0 without waiting for idle connections', async () => {
      const list = await heldList([EVENT_ROW])
      const limits = { drain: '10m', idle: '4m', waitFor: '10m' }
      const directory = new FilesDirectory({ operations: { port: 0 }, ...list.settings, limits }, null)
      const { child, port, listening } = await serve(runtime, directory.configuration)
      expect(parseReply(await exchange(port, requestText(TARGET))).status).toBe(200)
      list.hold()
      const answer = exchange(port, `GET ${TARGET} HTTP/1.1\r\nHost: x\r\n\r\n`)
      await eventually(
        () => askOperations(`${listening.operations ?? ''}status`),
        (reply) => reply?.text.includes('"waiting":1') === true,
      )
      const idle = connect({ port, host: '127.0.0.1' })
      idle.on('error', () => {})
      idle.write(`HEAD /nothing HTTP/1.1\r\nHost: x\r\n\r\n`)
      await new Promise((resolve) => idle.once('data', resolve))
      child.signal('SIGTERM')
      await eventually(
        () => accepts(port),
        (accepted) => !accepted,
      )
      list.release()
      const { status, body } = parseReply(await answer)
      expect([status, JSON.parse(body)]).toEqual([200, expect.objectContaining({ Id: EVENT })])
      const answeredMs = performance.now()
      expect(await child.exited).toBe(0)
      // Far less than limits.idle, on any machine.
      expect(performance.now() - answeredMs).toBeLessThan(120_000)
      idle.destroy()
      list.close()
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
