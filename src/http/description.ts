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

interface Text {
  readonly body: Body
  readonly etag: string
}

/** What is sent, all but the status. */
export interface Written extends Text {
  readonly fields: Fields
  /** Those of a 304. */
  readonly unchanged: Fields
}

interface Both {
  readonly openapi: Text
  readonly page: Written
}

/** `/api/openapi.json`, and the page at the base path (contract §5). */
export class Description {
  readonly #prefix: string
  readonly #texts: () => Promise<DescriptionTexts>
  #both: Both | Promise<Both> | null = null

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
    const written = this.#whole()
    return written instanceof Promise
      ? written.then((later) => chosen(later, call, resource))
      : chosen(written, call, resource)
  }

  #whole(): Both | Promise<Both> {
    this.#both ??= this.#write()
    return this.#both
  }

  async #write(): Promise<Both> {
    const { openapi, page } = await this.#texts()
    return (this.#both = { openapi: textOf(openapi), page: pageOf(page) })
  }
}

function chosen({ openapi, page }: Both, call: Call, resource: Described): Written {
  if (resource === 'page') return page
  return { ...openapi, fields: names(call, OPENAPI_TYPE) ? AS_OPENAPI : AS_JSON, unchanged: UNCHANGED }
}

const AS_OPENAPI = new Fields({ 'Content-Type': `${OPENAPI_TYPE};version=3.1`, ...CACHED })
const AS_JSON = new Fields({ 'Content-Type': 'application/json', ...CACHED })
const UNCHANGED = new Fields(CACHED)

function textOf(text: string): Text {
  const body = bodyOf(text)
  return { body, etag: etagOf(body) }
}

function pageOf({ html, policy }: DescribedPage): Written {
  const fields = new Fields({
    'Content-Type': `${HTML_TYPE}; charset=utf-8`,
    'Content-Security-Policy': policy,
    ...CACHED,
  })
  return { ...textOf(html), fields, unchanged: UNCHANGED }
}

/** Whether Accept names this very type with a weight above 0; a malformed one names nothing (contract §1.4). */
function names(call: Call, type: string): boolean {
  const accept = call.header('accept')
  return accept !== null && (readWeights(accept, [type])?.[0] ?? 0) > 0
}
