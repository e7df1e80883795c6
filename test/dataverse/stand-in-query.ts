import type { Reply } from './reply.ts'
import { json, refusal } from './reply.ts'
import type { StandInTable, StoredRow, Versions } from './stand-in-table.ts'

/** What a link that was handed out stands for; a link must come back byte by byte. */
interface Issued {
  readonly kind: 'page' | 'delta'
  readonly select: string
  readonly tracked: boolean
  /** Of the token: what changed after it. */
  readonly version: number
  readonly pageSize: number | null
  readonly after: string | number
  readonly isDelta: boolean
  /** Of changes: what is current as of their first page, and whether their pages have come to the deletions. */
  readonly mark?: number
  readonly inDeletions?: boolean
}

/** Switches of what tables answer. */
export class QueryFaults {
  /** A request for changes is answered with the whole set. */
  wholeSetOnDelta = false
  /** A request for changes without any is answered with `{}`. */
  emptyJsonWithoutChanges = false
  /** The last page of a tracked read, or of changes, has no link to continue from. */
  withoutDeltaLink = false
  /** Is put behind every link to go on from. */
  afterDeltaLinks = ''
  /** Links to further pages lead here. */
  foreignOrigin: string | null = null
  /** Each page also brings its first row once more, as it was given here. */
  repeated: Readonly<Record<string, unknown>> | null = null
  /** Deletions are told of ids that nobody has seen. */
  deletedStrangers: readonly string[] = []
  noValue = false
}

/** Answers for entity sets as strictly as Dataverse does, and more: what the facts say must not be sent is refused. */
export class StandInQuery {
  readonly faults: QueryFaults = new QueryFaults()
  readonly #issued = new Map<string, Issued>()
  readonly #versions: Versions
  #links = 0
  origin = ''
  /** What a page holds at most, whatever is asked for. */
  largestPage = 5000

  constructor(versions: Versions) {
    this.#versions = versions
  }

  answer(table: StandInTable, rawPath: string, prefer: string): Reply {
    const query = rawPath.split('?')[1] ?? ''
    const options = new Map(
      query
        .split('&')
        .filter(Boolean)
        .map((part) => [part.split('=')[0] ?? '', part.slice(part.indexOf('=') + 1)]),
    )
    for (const name of options.keys()) {
      if (!['$select', '$skiptoken', '$deltatoken', '$filter', '$orderby', '$top', '$expand'].includes(name)) {
        return refusal(400, '0x80060888', `The query parameter ${name} is not supported`)
      }
    }
    const preferences = prefer
      .split(',')
      .map((part) => part.trim())
      .filter(Boolean)
    const sizes = preferences.flatMap((part) => /^odata\.maxpagesize=(\d+)$/.exec(part)?.[1] ?? [])
    const pageSize = sizes[0] === undefined ? null : Number(sizes[0])
    const tracked = preferences.includes('odata.track-changes')
    if (options.has('$skiptoken') || options.has('$deltatoken')) return this.#follow(table, rawPath, pageSize)
    if (tracked) {
      for (const name of ['filter', 'orderby', 'expand', 'top']) {
        if (options.has(`$${name}`)) {
          return refusal(
            400,
            '0x80060888',
            `The "${name}" query parameter isn't supported when Change Tracking is enabled.`,
          )
        }
      }
      if (!table.changeTracking) {
        return refusal(400, '0x80072491', `Entity ${table.logicalName} isn't enabled for change tracking.`)
      }
    }
    const select = options.get('$select')
    if (select === undefined) return refusal(400, '0x0', 'select what is needed: rows hold secrets')
    const { properties } = table
    for (const name of decodeURIComponent(select).split(',')) {
      if (properties.has(name)) continue
      const message = `Could not find a property named '${name}' on type 'Microsoft.Dynamics.CRM.${table.logicalName}'.`
      return refusal(400, '0x80060888', message)
    }
    const first: Issued = {
      kind: 'page',
      select,
      tracked,
      version: this.#versions.current,
      pageSize,
      after: '',
      isDelta: false,
    }
    return this.#fullPage(table, first)
  }

  #follow(table: StandInTable, rawPath: string, pageSize: number | null): Reply {
    const issued = this.#issued.get(rawPath)
    if (issued === undefined) return refusal(400, '0x80040203', 'Invalid or re-encoded link')
    if (issued.kind === 'page' && issued.pageSize !== pageSize) {
      return refusal(400, '0x80040203', 'The page size must not change between pages')
    }
    if (!issued.isDelta) return this.#fullPage(table, issued)
    if (issued.version < table.oldestKnown) {
      const message = 'Version stamp associated with the client has expired. Please perform a full sync.'
      return refusal(400, '0x80044352', message)
    }
    if (this.faults.wholeSetOnDelta) {
      return this.#fullPage(table, {
        ...issued,
        kind: 'page',
        tracked: true,
        version: this.#versions.current,
        after: '',
        isDelta: false,
        pageSize,
      })
    }
    return this.#deltaPage(table, issued.kind === 'delta' ? { ...issued, pageSize } : issued)
  }

  #fullPage(table: StandInTable, page: Issued): Reply {
    const size = Math.min(page.pageSize ?? this.largestPage, this.largestPage)
    const rest = table.rowsAfter(String(page.after), size + 1)
    const rows = rest.slice(0, size).map((row) => this.#rowOf(table, row, page.select))
    const { repeated } = this.faults
    if (repeated !== null && rows[0] !== undefined) rows.push({ ...rows[0], ...repeated })
    const isLast = rest.length <= size
    const context = `${this.origin}/api/data/v9.2/$metadata#${table.entitySet}(${page.select})`
    const delta = page.tracked && isLast && !this.faults.withoutDeltaLink
    const links = {
      next: isLast ? null : this.#pageLink(table, { ...page, after: rest[size - 1]?.id ?? '' }),
      delta: delta ? this.#deltaLink(table, page) : null,
    }
    return json(this.#body(context, rows, links), page.tracked ? { 'preference-applied': 'odata.track-changes' } : {})
  }

  /**
   * What changed, in the order of its versions, and then what was deleted, up to the first page's moment: a row that
   * changes again before its page comes is left to the next link.
   */
  #deltaPage(table: StandInTable, page: Issued): Reply {
    const size = Math.min(page.pageSize ?? this.largestPage, this.largestPage)
    const after = Number(page.after) || page.version
    const mark = page.mark ?? this.#versions.current
    const entries: { readonly version: number; readonly entry: Record<string, unknown> }[] = table
      .changedSince(page.inDeletions === true ? Number.POSITIVE_INFINITY : after)
      .filter(({ version }) => version <= mark)
      .map((row) => ({ version: row.version, entry: this.#rowOf(table, row, page.select) }))
    const changed = entries.length
    const context = `${this.origin}/api/data/v9.2/$metadata#${table.entitySet}`
    const deleted = (id: string): Record<string, unknown> => ({
      '@odata.context': `${context}/$deletedEntity`,
      id,
      reason: 'deleted',
    })
    for (const [id, version] of table.deletedSince(page.inDeletions === true ? after : page.version)) {
      if (version <= mark) entries.push({ version, entry: deleted(id) })
    }
    const isLast = entries.length <= size
    const shown = isLast ? entries : entries.slice(0, size)
    const rows = shown.map(({ entry }) => entry)
    if (isLast) rows.push(...this.faults.deletedStrangers.map(deleted))
    if (rows.length === 0 && this.faults.emptyJsonWithoutChanges) return json({})
    const inDeletions = page.inDeletions === true || size > changed
    const next: Issued = { ...page, kind: 'page', mark, inDeletions, after: shown.at(-1)?.version ?? 0 }
    const links = {
      next: isLast ? null : this.#pageLink(table, next),
      delta: isLast && !this.faults.withoutDeltaLink ? this.#deltaLink(table, { ...page, version: mark }) : null,
    }
    return json(this.#body(`${context}(${page.select})/$delta`, rows, links))
  }

  /** As Microsoft's samples have it: the link to further changes before `value`, that to the next page after it. */
  #body(context: string, rows: unknown[], links: { next: string | null; delta: string | null }): unknown {
    return {
      '@odata.context': context,
      ...(links.delta === null ? {} : { '@odata.deltaLink': links.delta }),
      ...(this.faults.noValue ? {} : { value: rows }),
      ...(links.next === null ? {} : { '@odata.nextLink': links.next }),
    }
  }

  #rowOf(table: StandInTable, row: StoredRow, select: string): Record<string, unknown> {
    const values: Record<string, unknown> = { '@odata.etag': `W/"${row.version}"` }
    for (const name of decodeURIComponent(select).split(',')) {
      values[name] = row.values[name] ?? null
      // Comes along unasked.
      if (table.columns.get(name)?.type === 'Money')
        values['_transactioncurrencyid_value'] = '5a2a6c0e-0000-4000-8000-000000000001'
    }
    values[table.key] = row.id
    return values
  }

  #pageLink(table: StandInTable, page: Issued): string {
    const number = ++this.#links
    // An apostrophe, hexadecimal digits in lower case and a code within a code: whatever encodes again changes one of
    // them.
    const cookie = `%3Ccookie%20pagenumber=%22${number}%22%20pagingcookie=%22%253ccookie%2520page%253d'${number}'%2f%22%20istracking=%22${page.tracked ? 'True' : 'False'}%22%20/%3E`
    return this.#issue(`/api/data/v9.2/${table.entitySet}?$select=${page.select}&$skiptoken=${cookie}`, page)
  }

  #deltaLink(table: StandInTable, page: Issued): string {
    const token = `${page.version}%2108%2f22%2f2017%2008%3a10%3a44`
    const path = `/api/data/v9.2/${table.entitySet}?$select=${page.select}&$deltatoken=${token}`
    const { select, tracked, version, pageSize } = page
    return this.#issue(path, { kind: 'delta', select, tracked, version, pageSize, isDelta: true, after: 0 })
  }

  #issue(path: string, issued: Issued): string {
    this.#issued.set(path, issued)
    if (this.#issued.size > 5000) {
      const [oldest] = this.#issued.keys()
      if (oldest !== undefined) this.#issued.delete(oldest)
    }
    if (issued.kind === 'delta') return `${this.origin}${path}${this.faults.afterDeltaLinks}`
    return `${this.faults.foreignOrigin ?? this.origin}${path}`
  }
}
