import { expect, it } from 'bun:test'
import { loadConfiguration } from '../../config/load-configuration.ts'
import { parseGuid } from '../../domain/guid.ts'
import { type Cell, CellFault } from '../cells/cell.ts'
import { idsOf } from '../../app/assemble.ts'
import { remembered } from '../../domain/named-ids.ts'
import { toNamedId } from './ids.ts'

const NAMESPACE = '5f6c2a3e-8d0b-4c57-9e21-0a4b7d9c1e34'

async function idsIn(crm: string) {
  const env = { URL: 'postgres://me@localhost/db' }
  const readFile = () => Promise.reject(new Error('no file is read'))
  const loaded = await loadConfiguration({ path: 'm.yaml', text: `crm: ${crm}`, env, readFile })
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems))
  return idsOf(loaded.configuration.crm)
}

it("the CRM's own id leads to the ids that its rows got when they were read: the event's, then the venue's", async () => {
  const tables = 'events: { from: crm.e }, venues: { from: crm.v }'
  const ids = await idsIn(`{ kind: postgres, url: { env: URL }, idNamespace: ${NAMESPACE}, ${tables} }`)
  const namespace = parseGuid(NAMESPACE)
  if (namespace === null) throw new Error('it is a GUID')
  const read = ['crm.e', 'crm.v'].map((from) => toNamedId(namespace, from)('17'))
  expect(ids?.('17').map(String)).toEqual(read.map(String))
  expect(await idsIn(`{ kind: postgres, url: { env: URL }, ${tables} }`)).toBe(null)
  expect(await idsIn('{ kind: files, directory: x }')).toBe(null)
})

it('an id is made once for each text, in whatever order the texts come again, as far as there is room', () => {
  const guidOf = (text: string): string => `0d9b6a14-7c3e-4f58-92a1-${text.padStart(12, '0')}`
  const asked: unknown[] = []
  const named = remembered((cell: Cell) => {
    asked.push(cell)
    return (typeof cell === 'string' ? parseGuid(guidOf(cell)) : null) ?? new CellFault({ kind: 'id' }, cell)
  }, 4)
  const orders = ['1234', '1234', '4321', '1124', '3412', '567', '1526']
  for (const order of orders)
    for (const text of order) expect(JSON.stringify(named(text))).toBe(JSON.stringify(guidOf(text)))
  expect(asked).toEqual([...'1234', ...'567', '5', '6'])
  named(null)
  expect(named(null)).toBeInstanceOf(CellFault)
})
