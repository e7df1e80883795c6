import { expect, it } from 'bun:test'
import { loadConfiguration } from '../config/read-configuration.ts'
import { toNamedId } from '../crm/mapping/conversions.ts'
import { parseGuid } from '../domain/guid.ts'
import { idsOf } from './assemble.ts'

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
