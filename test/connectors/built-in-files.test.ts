import { afterAll, afterEach, describe, expect, it } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { examineList } from '../../src/crm/connector/conformance.ts'
import type { ListSource } from '../../src/sync/port.ts'
import { systemTime } from '../../src/time/time.ts'
import { withTimeout } from '../../src/time/waiting.ts'
import { droppingFirstRow } from '../support/dropped-row.ts'
import { type Examined, examinedRows } from '../support/examined-source.ts'
import { workbook } from '../support/workbook-file.ts'
import { openRig } from '../web-files/rig.ts'
import { webServer } from '../web-files/web-server.ts'

// Built-in connectors keep the promises that `check --connector` asks of users' connectors.

const folder = mkdtempSync(join(tmpdir(), 'marquee-built-in-'))
const left: { close(): unknown }[] = []
afterEach(async () => {
  for (const one of left.splice(0)) await one.close()
})
afterAll(() => rmSync(folder, { recursive: true }))

const HEADER = ['Id', 'Name', 'Price', 'Start', 'Finish']
const ROWS = Array.from({ length: 2042 }, (_, index) => [
  `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
  `event ${index}`,
  '12.10',
  '2036-05-01T19:30:00Z',
  '2036-05-01T21:30:00Z',
])
const OBJECTS = ROWS.map((row) =>
  Object.fromEntries(row.map((cell, index) => [HEADER[index] ?? '', index === 2 ? 12.1 : cell])),
)
const CSV = `${[HEADER, ...ROWS].join('\n')}\n`

async function sourceOf(from: string): Promise<ListSource<unknown>> {
  const fields = `{ ${HEADER.map((name) => `${name}: ${name}`).join(', ')} }`
  const list = `{ from: ${from}, fields: ${fields}, active: null, showOnWeb: null }`
  const { crm } = await openRig(`{ kind: files, directory: ${folder}, events: ${list} }`)
  left.push(crm)
  return crm.events
}

/** A file has no changes, only versions: it is read whole. */
async function findingsOf(source: Examined): Promise<readonly string[]> {
  const whole = { reportsChanges: false, read: source.read.bind(source) }
  const findings = await examineList('events', examinedRows(whole), systemTime, true)
  return findings.map(({ sentence }) => sentence)
}

describe('the files connector, examined as a connector of one’s own', () => {
  it.each([
    ['events.csv', CSV],
    ['events.json', JSON.stringify(OBJECTS)],
    ['events.ndjson', OBJECTS.map((row) => `${JSON.stringify(row)}\n`).join('')],
    ['events.xlsx', workbook([{ name: 'x', rows: [HEADER, ...ROWS] }])],
  ])('keeps all promises with %s', async (name, content) => {
    writeFileSync(join(folder, name), content)
    expect(await findingsOf(await sourceOf(name))).toEqual([])
  })

  it('keeps all promises with a URL', async () => {
    const server = await webServer(() => ({ headers: { 'content-type': 'text/csv' }, body: CSV }))
    left.push(server)
    expect(await findingsOf(await sourceOf(`"${server.origin}/events.csv"`))).toEqual([])
  })

  it('ends a read that is given up within a second, also where the server never answers', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1')
    left.push(silent)
    const address = silent.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    const asked = new Promise<void>((resolve) => void silent.once('connection', () => resolve()))
    const source = await sourceOf(`"http://127.0.0.1:${port}/events.csv"`)
    const given = new AbortController()
    const held = { size: 0, version: (): number => Number.NaN }
    const reading = source.read({ kind: 'full', cursor: null, held, signal: given.signal })
    const isOk = async (): Promise<boolean> => {
      let next = await reading.next()
      while (next.done !== true) next = await reading.next()
      return next.value.ok
    }
    const ended = isOk()
    await asked
    given.abort()
    expect(await withTimeout(systemTime, 1000, ended)).toBe(false)
  })

  it('is found out where it has other rows the second time, or fails', async () => {
    const source = await sourceOf('events.csv')
    const [found, ...others] = await findingsOf(droppingFirstRow(source, (_, reads) => reads === 2))
    expect(found).toContain('returned different rows')
    expect(others).toEqual([])
    rmSync(join(folder, 'events.csv'))
    const [failure] = await findingsOf(source)
    expect(failure).toStartWith('there is no events.csv in')
  })
})
