import type { CellObject } from '../mapping/cell.ts'
import { isList, isObject } from '../mapping/cell.ts'
import { parseCell } from '../mapping/parse-cell.ts'
import { splitPage } from './split-page.ts'

/** A page of rows as its server sent it. */
export interface PageBody {
  /** Null where there is no `value`, which on a request for changes means that there are none. */
  readonly rows: readonly CellObject[] | null
  /** The whole list rather than what changed in it: the context says so (OData 4.0 JSON §14). */
  readonly isDelta: boolean
  readonly nextLink: string | null
  readonly deltaLink: string | null
}

/** A page, or why it is none: the rest of a sentence. */
export function parsePageBody(text: string): PageBody | string {
  const split = splitPage(text)
  const parsed = split === null ? parseCell(text) : ({ ok: true, cell: split } as const)
  if (!parsed.ok) {
    if (/^\s*</.test(text)) return 'is HTML or XML, not JSON: does something in between answer for the CRM?'
    return parsed.reason === 'depth' ? 'is nested too deep' : 'is no JSON, or was cut short'
  }
  const body = parsed.cell
  if (!isObject(body)) return 'is no JSON object'
  if (Object.hasOwn(body, 'error')) return 'holds an error though its status is a success'
  const { value = null } = body
  if (value !== null && !isList(value)) return 'has no list of rows as its value'
  const rows = value?.filter(isObject) ?? null
  if (rows?.length !== value?.length) return 'has a row that is no object'
  const nextLink = linkOf(body, '@odata.nextLink')
  const deltaLink = linkOf(body, '@odata.deltaLink')
  if (nextLink === undefined || deltaLink === undefined) return 'has a link that is no text'
  const context = body['@odata.context']
  return { rows, isDelta: typeof context === 'string' && context.endsWith('/$delta'), nextLink, deltaLink }
}

function linkOf(body: CellObject, name: string): string | null | undefined {
  const link = body[name] ?? null
  return link === null || typeof link === 'string' ? link : undefined
}
