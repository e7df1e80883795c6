import { afterAll, beforeAll, expect, it } from 'bun:test'
import { suspicionSaid } from '../../src/faults/fault-words.ts'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readCrm } from '../../src/app/assemble.ts'
import { loadConfiguration } from '../../src/config/read-configuration.ts'

let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'marquee-suspicious-'))
  writeFileSync(join(folder, 'venues.csv'), 'Id,Name\n')
})
afterAll(() => rmSync(folder, { recursive: true }))

async function suspicious(file: string, content: string): Promise<readonly string[]> {
  writeFileSync(join(folder, file), content)
  const readFile = (): Promise<Uint8Array> => Promise.reject(new Error('no file is read'))
  const text = 'crm: { kind: files, directory: . }'
  const loaded = await loadConfiguration({ path: join(folder, 'm.yaml'), text, env: {}, readFile })
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems))
  const { marquee } = await readCrm(loaded.configuration)
  rmSync(join(folder, file))
  const numbers = new Set(['TicketCapacity', 'Price'])
  return marquee.suspicions.events
    .list(() => true)
    .map(suspicionSaid)
    .flatMap(({ column, what }) => (numbers.has(column) ? [`${column} ${what}`] : []))
}

const ROW = {
  Id: '0195e4a8-0000-7000-8000-000000000001',
  Name: 'Figaro',
  Start: '2036-06-21T19:30:00Z',
  Finish: '2036-06-21T22:30:00Z',
  ShowOnWeb: true,
}
const THOUSAND =
  'TicketCapacity ends in .000 and is read as a decimal fraction (1.000 is 1); most likely a thousand is meant'
it.each([
  ['1.000', '"1.25"', [THOUSAND]],
  ['1000', '1.25', []],
])(
  'finds the same numbers suspicious in JSON, NDJSON and CSV without a block: %s and %s',
  async (capacity, price, found) => {
    const row = `${JSON.stringify(ROW).slice(0, -1)},"TicketCapacity":${capacity},"Price":${price}}`
    const csv = `${Object.keys(ROW).join()},TicketCapacity,Price\n${Object.values(ROW).join()},${capacity},${price}\n`
    expect(await suspicious('events.json', `[${row}]`)).toEqual(found)
    expect(await suspicious('events.ndjson', row)).toEqual(found)
    expect(await suspicious('events.csv', csv)).toEqual(found)
  },
)
