import { expect, it } from 'bun:test'
import { definedNames, readAttributes, readTables } from './metadata.ts'

/** Answers with so many pages, each of which names one table. */
function clientOf(count: number): Parameters<typeof readTables>[0] {
  let pages = 0
  const client = {
    urlOf: (path: string) => `https://crm.example.org/${path}`,
    page: async () => {
      const row = { LogicalName: `table${++pages}`, EntitySetName: `tables${pages}` }
      const nextLink = pages < count ? `https://crm.example.org/?page=${pages}` : null
      return { kind: 'page', page: { rows: [row], isDelta: false, nextLink, deltaLink: null } }
    },
  }
  return client as never
}

it('reads definitions to their last page, and never takes a part of them for all', async () => {
  const { signal } = new AbortController()
  expect(await readTables(clientOf(20), signal)).toHaveProperty('size', 20)
  expect(await readTables(clientOf(21), signal)).toMatchObject({
    kind: 'broken',
    message: 'the definitions have more than 20 pages',
  })
})

it('keeps a column without a type, so it is not called missing', async () => {
  const rows = [{ LogicalName: 'seats', AttributeType: null }]
  const client = {
    urlOf: (path: string) => path,
    page: async () => ({ kind: 'page', page: { rows, isDelta: false, nextLink: null, deltaLink: null } }),
  }
  const attributes = await readAttributes(client as never, 'event', new AbortController().signal)
  if (!(attributes instanceof Map)) throw new Error('no attributes')
  const columns = [{ column: 'seats', label: false, key: 'fields.TicketCapacity' }]
  expect(definedNames(columns, attributes, 'events')).toEqual(new Map([['seats', 'seats']]))
})
