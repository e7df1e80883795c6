import { type JsonValues, isJsonList, isJsonObject } from '../../domain/json-value.ts'
import type { Context } from '../connector/marquee-connector.d.ts'
import { Tokens } from '../kit/tokens.ts'
import { failWithReason } from './errors.ts'

const HEADERS = { 'odata-maxversion': '4.0', 'odata-version': '4.0', 'if-none-match': 'null' }
/** The longest link accepted. Servers accept less as a request line: IIS 16 KB. */
const LONGEST_LINK = 16_384
const MOST_PAGES = 20
const NO_CONTENT = 204

/** Sends the requests for one environment, with its token. */
export class WebApi {
  readonly #secretFrom: string
  readonly #tokens = new Tokens()

  /** @param secretFrom where the client secret comes from, in words */
  constructor(secretFrom: string) {
    this.#secretFrom = secretFrom
  }

  /** Requests one answer. @param url a path of the Web API, or a link of an answer, which is sent unchanged */
  async get(context: Context, url: string, prefer: readonly string[] = []): Promise<JsonValues> {
    const headers = prefer.length === 0 ? HEADERS : { ...HEADERS, prefer: prefer.join(',') }
    const target = url.includes('://') ? url : `${settingsOf(context).url}/api/data/v9.2/${url}`
    const options = { headers, bearer: this.#bearerOf(context), errorAt: 'error' }
    const answer: unknown = await context.http.get(target, options).catch((cause: unknown) => {
      if (cause instanceof Error && 'status' in cause && cause.status === NO_CONTENT) return {}
      throw cause
    })
    return isJsonObject(answer) ? answer : context.fail('broken', 'the answer is not a JSON object')
  }

  /** Requests all rows of a short list, for example of definitions. */
  async rows(context: Context, path: string): Promise<readonly JsonValues[]> {
    const pages: (readonly JsonValues[])[] = []
    for (let url: string | null = path; url !== null;) {
      if (pages.length === MOST_PAGES) context.fail('broken', `${path} has more than ${MOST_PAGES} pages`)
      const answer = await this.get(context, url)
      pages.push(rowsIn(context, answer) ?? context.fail('broken', `${path}: the answer has no value`))
      url = nextLink(context, answer)
    }
    return pages.flat()
  }

  /** The logical name of a table by its entity set; `null` if it was not found. */
  async logicalName(context: Context, from: string): Promise<string | null> {
    const path = `EntityDefinitions?$select=EntitySetName,LogicalName&$filter=EntitySetName%20eq%20'${from}'`
    const found = (await this.rows(context, path)).find(({ EntitySetName: set }) => set === from)
    const name = found?.['LogicalName'] ?? null
    return isPlainName(name) ? name : null
  }

  #bearerOf(context: Context): (refused: string | null) => Promise<string> {
    const { url, authority, tenant, clientId, clientSecret } = settingsOf(context)
    const tokenUrl = `${authority}/${tenant}/oauth2/v2.0/token`
    const bearer = this.#tokens.bearer(context, {
      tokenUrl,
      clientId,
      clientSecret,
      scope: `${url}/.default`,
      sendAs: 'body',
    })
    return (refused) =>
      bearer(refused).catch((cause: unknown) =>
        failWithReason(cause, context, { tenant, clientId, url, secretFrom: this.#secretFrom }),
      )
  }
}

/** Names from the CRM are used in URLs and messages. */
export function isPlainName(cell: unknown): cell is string {
  return typeof cell === 'string' && /^\w{1,128}$/.test(cell)
}

/** The rows of an answer; `null` if it has no `value`, which means no changes. */
export function rowsIn(context: Context, { value = null }: JsonValues): readonly JsonValues[] | null {
  if (value === null) return null
  if (!isJsonList(value)) return context.fail('broken', 'the answer has no list of rows as its value')
  if (!value.every(isJsonObject)) context.fail('broken', 'the answer has a row that is not an object')
  return value.filter(isJsonObject)
}

/** The link to the next page, which has been checked; `null` if this is the last one. */
export function nextLink(context: Context, { '@odata.nextLink': link = null }: JsonValues): string | null {
  if (link === null) return null
  const own = ownLink(context, link)
  return 'link' in own ? own.link : context.fail('broken', `the answer ${own.fault}`)
}

/**
 * Checks a link of an answer. Returns it, or explains why it cannot be followed, as the rest of a sentence: the token
 * goes nowhere else.
 */
export function ownLink(context: Context, link: unknown): { readonly link: string } | { readonly fault: string } {
  // A link is sent unchanged, so it must fit into a request line (RFC 9112 §3).
  const isSendable = typeof link === 'string' && link.length <= LONGEST_LINK && /^[!"$-~]+$/.test(link)
  if (!isSendable) return { fault: 'contains an invalid link' }
  const { url: origin } = settingsOf(context)
  const url = URL.parse(link)
  if (link.startsWith(`${origin}/`) && url?.origin === origin && url.username === '') return { link }
  return { fault: 'contains a link to another host, which must not get the token' }
}

type Settings = Readonly<Record<'url' | 'authority' | 'tenant' | 'clientId' | 'clientSecret', string>>

export function settingsOf({ settings }: Context): Settings {
  const of = (name: keyof Settings): string => String(settings[name])
  return {
    url: of('url'),
    authority: of('authority'),
    tenant: of('tenant'),
    clientId: of('clientId'),
    clientSecret: of('clientSecret'),
  }
}
