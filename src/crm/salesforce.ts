import type { Batches, Cells, Connector, Context, Stream, Value } from './connector/marquee-connector.d.ts'
import { batchRows, mappedBatches } from './batches.ts'
import { Tokens } from './kit/tokens.ts'

/** One list: an object of the org, and the columns that are mapped. */
interface SalesforceList {
  readonly from: string
  readonly columns: readonly string[]
}

export interface SalesforceOptions {
  readonly apiVersion: string
  readonly events: SalesforceList
  readonly venues: SalesforceList
}

const PAGES = { by: 'next', at: 'nextRecordsUrl', rows: 'records', total: 'totalSize' } as const

/** Two objects of a Salesforce org, by SOQL and `SystemModstamp`; deletions come from the recycle bin as well. */
export function salesforceConnector({ apiVersion, events, venues }: SalesforceOptions): Connector {
  const tokens = new Tokens()

  async function* query(context: Context, soql: string, path = 'query'): Batches<Cells> {
    const { http, settings } = context
    const url = `${settings['url']}/services/data/${apiVersion}/${path}`
    const { clientId, clientSecret } = settings
    const client = { clientId: String(clientId), clientSecret: String(clientSecret), sendAs: 'body' } as const
    const bearer = tokens.bearer(context, { tokenUrl: `${settings['url']}/services/oauth2/token`, ...client })
    yield* http.pages(url, { ...PAGES, bearer, query: { q: soql } })
  }

  function streamOf({ from, columns }: SalesforceList): Pick<Stream, 'updatedAt' | 'full' | 'since' | 'ids' | 'byId'> {
    const select = `SELECT ${[...new Set(['Id', 'SystemModstamp', ...columns])].join(', ')} FROM ${from}`
    return {
      updatedAt: 'SystemModstamp',
      full: (context) => query(context, `${select} ORDER BY Id`),
      async *since(context, updatedAt) {
        const after = `SystemModstamp >= ${literalOf(updatedAt)}`
        yield* query(context, `${select} WHERE ${after} ORDER BY SystemModstamp`)
        const gone = `SELECT Id FROM ${from} WHERE IsDeleted = true AND ${after}`
        for await (const batch of query(context, gone, 'queryAll'))
          yield { rows: [], deleted: batchRows(batch).map(({ Id = null }) => textOf(Id)) }
      },
      ids: (context) =>
        mappedBatches(
          query(context, `SELECT Id, SystemModstamp FROM ${from} ORDER BY Id`),
          ({ Id = null, SystemModstamp: stamp = null }) => [textOf(Id), textOf(stamp)],
        ),
      byId: (context, ids) => query(context, `${select} WHERE Id IN (${ids.filter(isId).map(quoted).join(', ')})`),
    }
  }

  return {
    api: 2,
    settings: { url: 'url', clientId: 'text', clientSecret: 'secret' },
    events: { ...streamOf(events), fields: { Id: 'Id', Name: 'Name' } },
    venues: { ...streamOf(venues), fields: { Id: 'Id', Name: 'Name' } },
  }
}

/** Writes a time as SOQL takes it, without quotes. The `+0000` of answers becomes `Z`, which a URL need not escape. */
function literalOf(updatedAt: string): string {
  return /^[\d:.T-]+(?:Z|[+-]\d\d:?\d\d)$/.test(updatedAt)
    ? updatedAt.replace(/\+00:?00$/, 'Z')
    : '1970-01-01T00:00:00Z'
}

function isId(id: string): boolean {
  return /^[0-9A-Za-z]{15,18}$/.test(id)
}

function quoted(id: string): string {
  return `'${id}'`
}

function textOf(value: Value): string {
  return typeof value === 'string' ? value : ''
}
