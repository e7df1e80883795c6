import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { FilesDirectory } from '../support/files-directory.ts'
import { freePort } from '../support/free-port.ts'

export interface SilentCrm {
  /** Of a service that reads it. */
  readonly configuration: string
  /** Resolves with the first question. */
  readonly asked: Promise<void>
  close(): void
}

/** A CRM that takes what it is asked, and says nothing. */
export async function silentCrm(settings: object): Promise<SilentCrm> {
  const { promise: asked, resolve } = Promise.withResolvers<void>()
  const port = await freePort()
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).on('data', () => resolve())
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const secrets = new FilesDirectory({}, null)
  const url = join(secrets.path, 'url')
  writeFileSync(url, `postgres://marquee:secret@127.0.0.1:${port}/crm?sslmode=disable`)
  const lists = { events: { from: 'events' }, venues: { from: 'venues' } }
  const crm = { kind: 'postgres', url: { file: url }, requestTimeout: '60s', ...lists }
  const directory = new FilesDirectory({ freshness: { maxAge: '10m' }, crm, ...settings }, null)
  return {
    configuration: directory.configuration,
    asked,
    close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      secrets.remove()
      directory.remove()
    },
  }
}
