import { type Body, bodyOf, etagOf } from '../formats/body.ts'
import { readWeights } from '../formats/accept-weights.ts'
import { type Call, Fields } from './call.ts'
import { COMMON } from './headers.ts'
import type { Described } from './route.ts'

const OPENAPI_TYPE = 'application/openapi+json'
const HTML_TYPE = 'text/html'
const CACHED = { 'Cache-Control': 'public, max-age=300', ...COMMON }

/** The page for browsers. */
export interface DescribedPage {
  readonly html: string
  /** Its Content-Security-Policy. */
  readonly policy: string
}

/** What the two say of an instance. */
export interface DescriptionTexts {
  readonly openapi: string
  readonly page: DescribedPage
}

/** What is sent, all but the status. */
export interface Written {
  readonly body: Body
  readonly etag: string
  readonly fields: Fields
}

/** The document goes by either of two types. */
type AllWritten = Readonly<Record<'json' | 'openapi' | 'page', Written>>

/** `/api/openapi.json`, and the page at the base path (contract §5). */
export class Description {
  readonly #prefix: string
  readonly #texts: () => Promise<DescriptionTexts>
  #all: AllWritten | Promise<AllWritten> | null = null

  /**
   * @param basePath `/` for the root, else without a slash at its end
   * @param texts is asked once, when they are first needed: no record waits for them to be loaded and written
   */
  constructor(basePath: string, texts: () => Promise<DescriptionTexts>) {
    this.#prefix = basePath === '/' ? '' : basePath.toLowerCase()
    this.#texts = texts
  }

  /** Resolves when both are written; rejects where they cannot be. */
  async ready(): Promise<void> {
    await this.#whole()
  }

  /** Which of the two a call is for. The page is there only for who reads and names its type; to all others nothing is (contract §5). */
  find(call: Call): Described | null {
    const { pathname } = call
    // Neither is longer, and what is longer need not be folded.
    if (pathname.length > this.#prefix.length + '/api/openapi.json/'.length) return null
    const folded = pathname.toLowerCase()
    if (!folded.startsWith(this.#prefix)) return null
    const rest = folded.slice(this.#prefix.length)
    if (rest === '/api/openapi.json' || rest === '/api/openapi.json/') return 'openapi'
    if (rest !== '/' && (rest !== '' || this.#prefix === '')) return null
    return (call.method === 'GET' || call.method === 'HEAD') && names(call, HTML_TYPE) ? 'page' : null
  }

  read(call: Call, resource: Described): Written | Promise<Written> {
    const which = resource === 'page' ? 'page' : names(call, OPENAPI_TYPE) ? 'openapi' : 'json'
    const all = this.#whole()
    return all instanceof Promise ? all.then((later) => later[which]) : all[which]
  }

  #whole(): AllWritten | Promise<AllWritten> {
    this.#all ??= this.#write()
    return this.#all
  }

  async #write(): Promise<AllWritten> {
    const { openapi, page } = await this.#texts()
    const json = writtenAs({ 'Content-Type': 'application/json' }, openapi)
    const html = { 'Content-Type': `${HTML_TYPE}; charset=utf-8`, 'Content-Security-Policy': page.policy }
    return (this.#all = {
      json,
      openapi: { ...json, fields: new Fields({ 'Content-Type': `${OPENAPI_TYPE};version=3.1`, ...CACHED }) },
      page: writtenAs(html, page.html),
    })
  }
}

/** The fields of a 304. */
export const DESCRIPTION_UNCHANGED: Fields = new Fields(CACHED)

function writtenAs(fields: Readonly<Record<string, string>>, text: string): Written {
  const body = bodyOf(text)
  return { body, etag: etagOf(body), fields: new Fields({ ...fields, ...CACHED }) }
}

/** Whether Accept names this very type with a weight above 0; a malformed one names nothing (contract §1.4). */
function names(call: Call, type: string): boolean {
  const accept = call.header('accept')
  return accept !== null && (readWeights(accept, [type])?.[0] ?? 0) > 0
}
