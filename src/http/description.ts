import { type Described, COMMON } from '../contract/endpoints.ts'
import { type Body, bodyOf, etagOf } from '../domain/body.ts'
import { readWeights } from './negotiation.ts'
import { type Call, HeaderFields } from './call.ts'

const OPENAPI_TYPE = 'application/openapi+json'
const HTML_TYPE = 'text/html'
const CACHED = { 'Cache-Control': 'public, max-age=300', ...COMMON }

/** The page for browsers, and its Content-Security-Policy. */
interface DescribedPage {
  readonly html: string
  readonly policy: string
}

/** The texts of the OpenAPI document and of the page. */
export interface DescriptionTexts {
  readonly openapi: string
  readonly page: DescribedPage
}

/** A prepared answer without its status. */
interface Written {
  readonly body: Body
  readonly etag: string
  readonly fields: HeaderFields
}

/** The same document has two media types, `json` and `openapi`. */
type AllWritten = Readonly<Record<'json' | 'openapi' | 'page', Written>>

/** Serves `/api/openapi.json` and the page at the base path (contract §5). */
export class Description {
  readonly #prefix: string
  readonly #texts: () => Promise<DescriptionTexts>
  #all: Promise<AllWritten> | null = null

  /**
   * @param basePath `/` for the root; any other path has no trailing slash
   * @param texts called once, on first use, because records must not wait until the texts are loaded and formatted
   */
  constructor(basePath: string, texts: () => Promise<DescriptionTexts>) {
    this.#prefix = basePath === '/' ? '' : basePath.toLowerCase()
    this.#texts = texts
  }

  /** Resolves when both texts are prepared; rejects if that fails. */
  async ready(): Promise<void> {
    await this.#whole()
  }

  /**
   * Returns the resource that a call asks for; `null` if it is neither of them. The page exists only for GET and HEAD
   * requests that name its media type (contract §5).
   */
  find(call: Call): Described | null {
    const { pathname } = call
    // A longer path matches neither, so it need not be converted to lower case.
    if (pathname.length > this.#prefix.length + '/api/openapi.json/'.length) return null
    const folded = pathname.toLowerCase()
    if (!folded.startsWith(this.#prefix)) return null
    const rest = folded.slice(this.#prefix.length)
    if (rest === '/api/openapi.json' || rest === '/api/openapi.json/') return 'openapi'
    if (rest !== '/' && (rest !== '' || this.#prefix === '')) return null
    return (call.method === 'GET' || call.method === 'HEAD') && names(call, HTML_TYPE) ? 'page' : null
  }

  async read(call: Call, resource: Described): Promise<Written> {
    const which = resource === 'page' ? 'page' : names(call, OPENAPI_TYPE) ? 'openapi' : 'json'
    const all = await this.#whole()
    return all[which]
  }

  #whole(): Promise<AllWritten> {
    this.#all ??= this.#write()
    return this.#all
  }

  async #write(): Promise<AllWritten> {
    const { openapi, page } = await this.#texts()
    const json = writtenAs({ 'Content-Type': 'application/json' }, openapi)
    const html = { 'Content-Type': `${HTML_TYPE}; charset=utf-8`, 'Content-Security-Policy': page.policy }
    return {
      json,
      openapi: { ...json, fields: new HeaderFields({ 'Content-Type': `${OPENAPI_TYPE};version=3.1`, ...CACHED }) },
      page: writtenAs(html, page.html),
    }
  }
}

/** The header fields of a 304. */
export const DESCRIPTION_UNCHANGED: HeaderFields = new HeaderFields(CACHED)

function writtenAs(fields: Readonly<Record<string, string>>, text: string): Written {
  const body = bodyOf(text)
  return { body, etag: etagOf(body), fields: new HeaderFields({ ...fields, ...CACHED }) }
}

/**
 * Returns true if Accept names exactly this type with a weight above 0. A malformed header names nothing (contract
 * §1.4).
 */
function names(call: Call, type: string): boolean {
  const accept = call.header('accept')
  return accept !== null && (readWeights(accept)?.get(type) ?? 0) > 0
}
