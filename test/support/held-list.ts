import { once } from 'node:events'
import { type ServerResponse, createServer } from 'node:http'

export interface HeldList {
  /** The settings of a service that reads its events from here for each request that needs them. */
  readonly settings: object
  /** From now on nothing is answered, until it is released. */
  hold(): void
  release(): void
  close(): void
}

/** An API whose list of events a test holds back: a read lasts as long as the test says, on any machine. */
export async function heldList(rows: readonly object[]): Promise<HeldList> {
  let held = Promise.withResolvers<void>()
  held.resolve()
  const answer = async (url: string | undefined, response: ServerResponse): Promise<void> => {
    await held.promise
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(url === '/events' ? rows : []))
  }
  const server = createServer(({ url }, response) => void answer(url, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const paging = { by: 'none', whole: true }
  const fields = { Id: 'Id', Name: 'Name', Start: 'Start', Finish: 'Finish' }
  const events = { get: '/events', paging, fields, showOnWeb: null, active: null }
  const lists = { events, venues: { get: '/venues', paging } }
  return {
    settings: {
      freshness: { maxAge: 0, refreshEvery: '1h' },
      limits: { drain: '10m', waitFor: '10m' },
      crm: { kind: 'http', url: `http://127.0.0.1:${port}`, requestTimeout: '10m', ...lists },
    },
    hold: () => (held = Promise.withResolvers()),
    release: () => held.resolve(),
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
