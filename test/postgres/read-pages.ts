// Reads what a SELECT of `PG_URL` finds, as the connector does, and tells what its pages were like: on either runtime.
import { Secret } from '../../src/domain/secret.ts'
import { ReadSession } from '../../src/crm/postgres/read-session.ts'
import { openerOf } from './opener-of.ts'

const { PG_URL = '', PG_SELECT = '', PG_LIMIT_MS = '5000' } = process.env
const limitMs = Number(PG_LIMIT_MS)
const url = new Secret(PG_URL, { name: 'a test', reread: null })
const opener = openerOf(url, { requestTimeoutMs: limitMs })
const session = new ReadSession(opener)

const transaction = await session.begin()
const sizes: number[] = []
let most = 0
let sum = 0
for await (const page of transaction.scan(PG_SELECT)) {
  const size = page.rows.reduce((all, row) => all + row.reduce((wide, text) => wide + (text?.length ?? 0), 0), 0)
  sizes.push(page.rows.length)
  most = Math.max(most, size)
  for (const [number] of page.rows) sum += Number(number)
  // As long as a page takes to be applied, and longer: what the server sends meanwhile must wait there.
  await new Promise((resolve) => setTimeout(resolve, 1))
}
const after = await transaction.query('SELECT 1')
await transaction.end()
await session.close()
console.log(JSON.stringify({ sizes, most, sum, after: after.rows }))
