// What a connector for Marquee exports by default: how its two lists are read. Types only; nothing here exists at run
// time.
// `./marquee init module` writes this file beside a connector that uses it. docs/crm/your-own.md explains it in seven
// steps.

export type Value = string | number | boolean | null | readonly Value[] | { readonly [name: string]: Value }

/** The cells of one row. Give numbers that a float would change as texts; `context.http` does so. */
export type Cells = { readonly [column: string]: Value }

/** One row: its cells, or its JSON as UTF-8 bytes, which Marquee parses only if they changed. */
export type Row = Cells | Uint8Array

/** The rows of one answer, with facts about the answer. A plain list is short for `{ rows }`. */
export interface Batch<Item = Row> {
  readonly rows: readonly Item[]
  /** The CRM's ids of rows that are gone. Not for `full`, `ids` and `availability`. */
  readonly deleted?: readonly string[]
  /** How many rows the whole list has, if the CRM says so. A read of all rows or ids that brings fewer fails. */
  readonly total?: number
  /** How far behind its own data the CRM answers, in ms: a standby, a cache. The read counts as that much older. */
  readonly lagMs?: number
  /**
   * Why rows cannot move between the batches of this read. `order`: they are sorted by a key. `moment`: all are from
   * one moment. If absent, rows count as removed only if a second read lacks them too.
   */
  readonly stable?: 'order' | 'moment'
  /** Why the list may still be being written, as a sentence. If the read lacks a served row, nothing of it counts. */
  readonly unsure?: string
  /** Columns that are blank in every row on purpose. Marquee does not warn that rows lack them. */
  readonly blank?: readonly string[]
  /** Where a row is, for messages: `events.csv, line 7`. If absent, rows are named by their ids. */
  at?(index: number): string
}

/** What an async generator yields batch by batch, and returns at its end. */
export type Batches<Item = Row, End = void> = AsyncGenerator<readonly Item[] | Batch<Item>, End>

/** What a read of all rows knows at its end. */
export interface FullEnd {
  /** Where the changes since the beginning of this read begin. It takes precedence over `changes(context, null)`. */
  readonly cursor?: string
  /** The version of what was read, as `version` returns it. */
  readonly version?: string
}

/** The cursor of changes that may be incomplete: rows may have changed while their pages were read. */
export interface More {
  readonly cursor: string
  readonly more: true
}

/** The id of a row, and the time at which it changed. */
export type IdPair = readonly [id: string | number, updatedAt: string | number | null]

/** The module's default export: `export default { … } satisfies Connector`. */
export interface Connector {
  /** Connectors that were written for 1 work unchanged. */
  readonly api: 2
  /**
   * The keys of `crm.settings` in marquee.yaml, and what each holds. A `secret` is given as `{ env }` or `{ file }`.
   */
  readonly settings?: { readonly [name: string]: 'text' | 'url' | 'secret' | 'number' | 'flag' }
  /** How often `context.http` may ask, for both lists together: `{ atOnce: 3, most: 60, per: '1m' }`. */
  readonly requests?: { readonly atOnce?: number; readonly most?: number; readonly per?: string }
  readonly events: Stream
  readonly venues: Stream
  /** Asked by `./marquee check`: what the operator should know, a sentence each. It need not read the lists. */
  check?(context: Context): Promise<readonly string[]>
  /** Closes connections. Called once, when all reads have been aborted; Marquee waits for at most a second. */
  close?(): Promise<void>
}

/**
 * One list. The methods that exist decide how it is read: `full` alone; `full` and `version`; `full` and `changes`;
 * `full`, `since` and `ids` (with `byId`, if single rows can be read); or `full` and `since`.
 */
export interface Stream {
  /**
   * The source of each field, as in `fields` of marquee.yaml, with paths such as `place.id`. marquee.yaml takes
   * precedence.
   */
  readonly fields: Fields
  readonly active?: Where
  /** Events only. */
  readonly showOnWeb?: Where
  /** The path of the time that changes whenever the row does. `since` and `ids` need it. */
  readonly updatedAt?: string
  /** Which of two rows of one read with the same id is served: the later one, unless this says otherwise. */
  readonly repeats?: 'later' | 'first' | 'neither'
  /** All rows. The list is known as of the beginning of this read, or earlier by the greatest `lagMs`. */
  full(context: Context): Batches<Row, FullEnd | void>
  /**
   * A text that differs whenever the list may differ; null if it is not known. If it is that of the last full read, the
   * list is not read. Only for lists without `changes` and `since`.
   */
  version?(context: Context): Promise<string | null>
  /**
   * All changes since the cursor, including deletions; returns the next cursor. With null, gives no rows and returns
   * the cursor of now, or null if `full` returns it. `more`: Marquee asks again at once, at most five times.
   */
  changes?(context: Context, cursor: string | null): Batches<Row, string | More | null>
  /**
   * The rows whose `updatedAt` is this time or later. Marquee goes back by a minute, but never over more than 200 rows.
   * The time is in the CRM's own format.
   */
  since?(context: Context, updatedAt: string): Batches
  /** The id and `updatedAt` of every row. Marquee reads the rows that differ, and removes those that are absent. */
  ids?(context: Context): Batches<IdPair>
  /**
   * The rows with these ids, at most 100. `deleted` names those that are gone. An id in neither makes Marquee compare
   * the whole list.
   */
  byId?(context: Context, ids: readonly string[]): Batches
  /** Events only: all rows, with only the columns that Id, TicketCapacity and TicketsAvailable need. Read before each refresh. */
  availability?(context: Context): Batches
  /**
   * Listens for changes and calls `hint` at each; Marquee then reads at once, and looks the ids up with `byId`. `all`:
   * that read compares the whole list, as far as `ids` allows. Returns a function that stops listening.
   */
  watch?(context: Context, hint: (ids?: readonly string[] | 'all') => void): () => void
}

export interface Context {
  /** The values of `crm.settings`, checked. */
  // oxlint-disable-next-line typescript/no-explicit-any -- each connector knows the types of its own settings
  readonly settings: { readonly [name: string]: any }
  /** Sends requests, only to the origins of the `url` settings. */
  readonly http: Http
  /** Aborts when the read is given up. */
  readonly signal: AbortSignal
  /** An `audit` runs beside the refreshes of its list and must not hold them up, for example on one connection. */
  readonly purpose: 'refresh' | 'audit'
  /** Tells the operator a sentence, once as long as each read of this kind tells it. The read goes on. */
  notice(sentence: string): void
  /**
   * Ends the read with a sentence for the operator. `expired`: the cursor is no longer valid, so Marquee reads the list
   * in full. `waiting`: the list is being written, so Marquee asks again soon.
   */
  fail(kind: 'refused' | 'throttled' | 'broken' | 'misconfigured' | 'expired' | 'waiting', sentence: string): never
}

/** What `context.http` throws after it has waited, retried and renewed the token. It ends the read unless caught. */
export interface HttpError extends Error {
  /** 0 if there was no answer. */
  readonly status: number
  /** The parsed answer if it is JSON of at most 64 KB; otherwise null. */
  readonly answer: Value
}

/** Handles time limits, one retry, Retry-After and the budget. A failed request throws an `HttpError`. */
export interface Http {
  /** Resolves with the parsed JSON. A number that a float could change comes as its text. */
  // oxlint-disable-next-line typescript/no-explicit-any -- the answer of an API that only the connector knows
  get(url: string, options?: RequestOptions): Promise<any>
  /** Sends a text body unchanged if the headers have a `content-type`, for example a form. */
  // oxlint-disable-next-line typescript/no-explicit-any -- the answer of an API that only the connector knows
  post(url: string, options: RequestOptions & { readonly body: Value }): Promise<any>
  /** Reads all pages, by POST if there is a `body`. */
  pages(url: string, options: PagesOptions): Batches<Cells>
}

export interface RequestOptions {
  /** A token, or a function that returns one. If a token is refused, the function is called once more, with that token. */
  readonly bearer?: string | ((refused: string | null) => Promise<string>)
  readonly headers?: { readonly [name: string]: string }
  /**
   * Added to the URL. A list is joined by commas, or repeated if the name ends in `[]`; an object is sent as JSON. Null
   * is omitted.
   */
  readonly query?: { readonly [name: string]: Value }
  /** The path of an error: anything but null there fails the request, whatever its status. */
  readonly errorAt?: string
  /** The values at `errorAt` that mean that the key is refused. */
  readonly refusedAs?: readonly string[]
  /** The values at `errorAt` that mean that the request is wrong, for example names a column that does not exist. */
  readonly misconfiguredAs?: readonly string[]
}

/**
 * How to request the pages of a list. `{page}`, `{size}`, `{offset}`, `{after}` and `{cursor}` are replaced in the URL
 * and in the values of `query` and `body`. If a placeholder is the whole text, its value keeps its type.
 */
export interface PagesOptions extends RequestOptions {
  /**
   * `none`: one answer has all rows; needs `total` or `whole: true`. `page`: page numbers. `offset`: the number of rows
   * received. `key`: rows sorted by a key, after the last row's key. `next`: a URL in the body, at the path `at`.
   * `link`: a Link header. `cursor`: a text in the body, at the path `at`.
   */
  readonly by: 'none' | 'page' | 'offset' | 'key' | 'next' | 'link' | 'cursor'
  readonly size?: number
  /** The number of the first page, 1 if absent. */
  readonly first?: number
  /** The path of a row's key, `id` if absent. `key` needs it, and `offset` recognizes rows by it. */
  readonly key?: string
  /** The value of `{after}` in the first request of `key`: 0 if absent. Use '' for texts. */
  readonly from?: string | number
  /** The path of the next page's URL or cursor. */
  readonly at?: string
  /** For `cursor`: the path of a flag that says whether there are more pages. */
  readonly more?: string
  /** The path of the number of all rows, or the response header that has it. */
  readonly total?: string | { readonly header: string }
  /** The answer has the whole list, without saying how many rows that is. */
  readonly whole?: boolean
  /** The API promises that all pages show one moment, or are sorted by a key. Otherwise rows may move between pages. */
  readonly stable?: boolean
  /**
   * `ignored` uses only the path and query of links to next pages, for servers that write a wrong host into them.
   * Otherwise a link to another host fails the read.
   */
  readonly hostOfLinks?: 'ignored' | 'kept'
  /** The path of the list of rows; absent if the answer itself is the list. */
  readonly rows?: string
  readonly body?: Value
}

/**
 * As `fields` in marquee.yaml: a column or path, or a mapping such as `{ column, whenBlank }` or `{ subtract: [a, b]
 * }`.
 */
export interface Fields {
  readonly Id: string
  readonly [field: string]: Source | null
}

export type Source =
  | string
  | {
      readonly column: string
      /** A constant; of a date also another column. */
      readonly whenBlank?: string | Lasting | Source
      readonly wallTimeIn?: string | { readonly column: string }
      /** What to read instead of certain values, in any case; `null` stands for a blank cell. */
      readonly values?: { readonly [found: string]: string | number | boolean | null }
      /**
       * What is read of the several cells that a path such as `tickets.*.price` finds; blank ones do not count. `least`
       * and `greatest` also find the numbers in a text such as `18 – 52 €`.
       */
      readonly pick?: 'first' | 'least' | 'greatest' | 'sum' | 'count'
      /** The rows in which the column, or the constant of `whenBlank`, is read; in others the field is blank. */
      readonly onlyWhere?: Where
    }
  | { readonly value: string; readonly onlyWhere?: Where }
  | { readonly subtract: readonly string[]; readonly whenBlank?: string; readonly onlyWhere?: Where }
  | {
      readonly join: readonly string[]
      /** A constant; of a date also another column. */
      readonly whenBlank?: string | Lasting | Source
      readonly wallTimeIn?: string | { readonly column: string }
    }
  | Lasting

export interface Lasting {
  /** How long after Start, such as `2h30m`, or `day`: until the end of the day of Start. */
  readonly lasting: string
}

/** As a condition in marquee.yaml: every column must hold one of its values, none of them, or be blank. */
export interface Where {
  readonly [column: string]:
    | readonly (string | number | boolean)[]
    | { readonly not: readonly (string | number | boolean)[] }
    | 'blank'
}
