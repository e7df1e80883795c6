import type { CrmFailure } from '../../replica/port.ts'
import type { CellObject } from '../mapping/cell.ts'
import type { DataverseClient } from './client.ts'
import { parsePageBody } from './page-body.ts'

const MOST_PAGES = 20

/** All rows of a short list, such as metadata; its pages are followed, few of them. */
export async function readRows(
  client: DataverseClient,
  url: string,
  signal: AbortSignal,
): Promise<readonly CellObject[] | CrmFailure> {
  const rows: CellObject[] = []
  let next: string | null = url
  for (let pages = 0; next !== null && pages < MOST_PAGES; pages++) {
    const got = await client.get(next, [], signal)
    if (got.kind === 'error') return got.failure
    const page = got.kind === 'text' ? parsePageBody(got.text) : 'is empty'
    if (typeof page === 'string') return broken(`the answer ${page}`)
    if (page.rows === null) return broken('the answer has no value')
    // Not spread: so many arguments as a page may have rows, no call can have.
    for (const row of page.rows) rows.push(row)
    next = page.nextLink
    const fault = next === null ? null : client.linkFault(next)
    if (fault !== null) return broken(`the answer ${fault}`)
  }
  return rows
}

function broken(message: string): CrmFailure {
  return { kind: 'broken', message, retryAfterMs: null }
}
