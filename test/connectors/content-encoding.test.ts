import { afterEach, describe, expect, it } from 'bun:test'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { runCommand } from '../commands/run-command.ts'
import { WorkFolder } from '../commands/work-folder.ts'
import { BOTH_RUNTIMES } from '../support/depth.ts'
import { JsonServer } from './json-server.ts'

const EVENT = { id: 1, title: 'Figaro', start: '2036-07-12T19:30Z', end: '2036-07-12T22:00Z' }
const BODIES = {
  '/events': JSON.stringify([EVENT]),
  '/events.csv': `${Object.keys(EVENT).join(',')}\n${Object.values(EVENT).join(',')}\n`,
} as const
const FIELDS =
  'fields: { Id: id, Name: title, Start: start, Finish: end, TicketCapacity: null, TicketsAvailable: null, Price: null }'
const NAMESPACE = 'idNamespace: 6f1f3c0e-5f0e-4c57-8a55-0d6c1c0a7e11'

function configuration(kind: 'http' | 'files', url: string): string {
  const list = 'paging: { by: none, whole: true }'
  return kind === 'http'
    ? `crm: { kind: http, url: "${url}", ${NAMESPACE}, events: { get: /events, ${list}, ${FIELDS.replace('Id: id, ', '')} }, venues: { get: /venues, ${list} } }\n`
    : `crm: { kind: files, directory: ., ${NAMESPACE}, events: { from: "${url}/events.csv", ${FIELDS}, showOnWeb: null }, venues: { from: venues.csv } }\n`
}

const servers: JsonServer[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

interface Checked {
  readonly events: number
  readonly problems: readonly string[]
}

async function checked(kind: 'http' | 'files', runtime: 'bun' | 'node', coding: string): Promise<Checked> {
  const server = await JsonServer.open(({ path }) => {
    const body = path === '/events' || path === '/events.csv' ? BODIES[path] : '[]'
    const packed = coding.includes('gzip') ? gzipSync(body) : coding === 'br' ? brotliCompressSync(body) : body
    const type = path === '/events.csv' ? 'text/csv' : 'application/json'
    return { text: packed, headers: { 'content-encoding': coding, 'content-type': type } }
  })
  servers.push(server)
  using folder = new WorkFolder({ 'marquee.yaml': configuration(kind, server.url), 'venues.csv': 'Id,Name\n' })
  const { stdout } = await runCommand(['check', '--json'], { cwd: folder.path, runtime })
  return JSON.parse(stdout) as Checked
}

const KINDS = BOTH_RUNTIMES.flatMap((runtime) => (['http', 'files'] as const).map((kind) => [runtime, kind] as const))

describe.each(KINDS)('Content-Encoding on %s, of %s', (runtime, kind) => {
  it.each(['', 'identity', 'UTF-8', 'aws-chunked', 'none', 'gzip', 'gzip, aws-chunked'])(
    '"%s" changes nothing that gzip does not',
    async (coding) => {
      expect(await checked(kind, runtime, coding)).toMatchObject({ events: 1, problems: [] })
    },
  )

  it('is named if the answer cannot be read', async () => {
    const { events, problems } = await checked(kind, runtime, 'br')
    expect(events).toBe(0)
    expect(problems.join()).toContain(
      '(its Content-Encoding is br, which was not asked for; Marquee unpacks only gzip)',
    )
  })
})
