import { expect, it } from 'bun:test'
import { PostgresFailure } from './postgres-failure.ts'
import { tableShape } from './table-shape.ts'

it('reports a missing table even if the search for similar names fails', async () => {
  let queries = 0
  const transaction = {
    async query() {
      if (queries++ === 0) return { rows: [], oids: [] }
      throw new PostgresFailure('timeout', 'a statement took longer than crm.requestTimeout', '57014', false)
    },
  }
  const list = { name: 'events', written: 'public_event', quoted: '"public_event"' }
  const message = 'crm.events.from: the database has no table or view public_event that this role may see'
  const failed: unknown = await tableShape(transaction as never, list as never).catch((cause: unknown) => cause)
  expect(failed).toMatchObject({ failure: { kind: 'misconfigured', message } })
})
