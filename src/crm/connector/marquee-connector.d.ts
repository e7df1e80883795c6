// What a connector for Marquee exports by default: how its two lists are read. Types only; nothing here exists at run time.
// `./marquee init module` writes this file beside a connector that uses it. docs/crm/your-own.md explains it in seven steps.

export type Value = string | number | boolean | null | readonly Value[] | { readonly [name: string]: Value }

/** One row, as the CRM gives it. Numbers that a float would change belong in texts; `context.http` does that by itself. */
export type Row = { readonly [column: string]: Value }

/** The rows of one answer, or more about that answer. */
export type Batch =
  | readonly Row[]
  | {
      readonly rows: readonly Row[]
      /** The CRM's ids of rows that are gone; only `changes` and `since` need them. */
      readonly deleted?: readonly string[]
      /** How many rows the whole list has, if the CRM says so. A full read that brings fewer fails. */
      readonly total?: number
      /** How far behind its own data the CRM answered, in ms, for example the `Age` of a cached answer. */
      readonly lagMs?: number
      /** Rows cannot move between the pages of this read: they come in the order of a key, or from one moment. */
      readonly stable?: boolean
    }

/** The module's default export: `export default { … } satisfies Connector`. */
export interface Connector {
  readonly api: 1
  /** The keys of `crm.settings` in marquee.yaml, and what each holds. A `secret` is given as `{ env }` or `{ file }`. */
  readonly settings?: { readonly [name: string]: 'text' | 'url' | 'secret' | 'number' | 'flag' }
  /** How often `context.http` may ask: `{ atOnce: 3, most: 60, per: '1m' }`. */
  readonly requests?: { readonly atOnce?: number; readonly most?: number; readonly per?: string }
  readonly events: Stream
  readonly venues: Stream
}

/**
 * One list. The methods that exist decide how it is read: `full` alone; `full` and `changes`; `full`, `since` and `ids`
 * (with `byId`, if single rows can be read); or `full` and `since`.
 */
export interface Stream {
  /** Where each field comes from, as `fields` in marquee.yaml, with paths such as `place.id`. What stands there wins. */
  readonly fields: Fields
  readonly active?: Where
  /** Events only. */
  readonly showOnWeb?: Where
  /** The path of the time that moves whenever a row changes. `since` and `ids` need it. */
  readonly updatedAt?: string
  /** All rows. */
  full(context: Context): AsyncIterable<Batch>
  /** All changes since the cursor, deletions too; returns the next cursor. Called with null to learn where changes begin. */
  changes?(context: Context, cursor: string | null): AsyncGenerator<Batch, string>
  /** The rows whose `updatedAt` is this time or later; Marquee asks for an overlap. The time is written as the CRM writes it. */
  since?(context: Context, updatedAt: string): AsyncIterable<Batch>
  /** The id and `updatedAt` of every row. */
  ids?(context: Context): AsyncIterable<readonly (readonly [id: string | number, updatedAt: string | number | null])[]>
  /** The rows with these ids, at most 100; an id that is gone is left out. */
  byId?(context: Context, ids: readonly string[]): AsyncIterable<Batch>
  /** Events only: all rows, with no more than what Id, TicketCapacity and TicketsAvailable are made of. */
  availability?(context: Context): AsyncIterable<Batch>
  /** Begins to listen for changes and calls `hint` at each, so that Marquee reads at once; returns what ends that. */
  watch?(context: Context, hint: (ids?: readonly string[]) => void): () => void
}

export interface Context {
  /** The values of `crm.settings`, checked. */
  // oxlint-disable-next-line typescript/no-explicit-any -- each connector knows the types of its own settings
  readonly settings: { readonly [name: string]: any }
  /** Asks only the origins of the `url` settings. */
  readonly http: Http
  /** Aborts when the read is given up. */
  readonly signal: AbortSignal
  /** Ends the read with a sentence for the operator. `expired`: the cursor is no longer good, so the list is read in full. */
  fail(kind: 'refused' | 'throttled' | 'broken' | 'misconfigured' | 'expired', sentence: string): never
}

/** Time limits, one second try, Retry-After and the budget are handled here; a failed request throws and ends the read. */
export interface Http {
  /** Resolves with the parsed JSON. A number that a float would change comes as its text. */
  // oxlint-disable-next-line typescript/no-explicit-any -- the answer of an API that only the connector knows
  get(url: string, options?: RequestOptions): Promise<any>
  /** A body that is a text, with a `content-type` among the headers, is sent as it is: a form, for example. */
  // oxlint-disable-next-line typescript/no-explicit-any -- the answer of an API that only the connector knows
  post(url: string, options: RequestOptions & { readonly body: Value }): Promise<any>
  /** Reads all pages. A POST if there is a `body`. */
  pages(url: string, options: PagesOptions): AsyncIterable<Batch>
}

export interface RequestOptions {
  readonly bearer?: string
  readonly headers?: { readonly [name: string]: string }
  /** Added to the URL. A list is joined by commas; under a name that ends in `[]` it is repeated. Null is left out. */
  readonly query?: { readonly [name: string]: string | number | boolean | readonly (string | number)[] | null }
  /** The path of an error: anything but null there fails the request, whatever its status. */
  readonly errorAt?: string
  /** What stands at `errorAt` when the key is refused. */
  readonly refusedAs?: readonly string[]
}

/**
 * How the pages of a list follow one another. `{page}`, `{size}`, `{offset}`, `{after}` and `{cursor}` are replaced in the
 * URL and in the values of `query` and `body`; alone in a text they keep their type.
 */
export interface PagesOptions extends RequestOptions {
  /**
   * `none`: one answer holds all; needs `total`, or `whole: true`. `page`: by number. `offset`: by how many rows came.
   * `key`: rows after the last row's key, in its order. `next`: a URL in the body, `at` its path. `link`: a Link header.
   * `cursor`: a text in the body, `at` its path.
   */
  readonly by: 'none' | 'page' | 'offset' | 'key' | 'next' | 'link' | 'cursor'
  readonly size?: number
  /** The number of the first page, 1 if absent. */
  readonly first?: number
  /** The path of a row's key, `id` if absent: for `key`, and to recognize rows for `offset`. */
  readonly key?: string
  /** What stands for `{after}` in the first request of `key`: 0 if absent; '' suits texts. */
  readonly from?: string | number
  /** The path of the next page's URL or cursor. */
  readonly at?: string
  /** The path of a flag that says whether there are more pages, for `cursor`. */
  readonly more?: string
  /** The path of the number of all rows, or the response header that has it. */
  readonly total?: string | { readonly header: string }
  /** The answer holds the whole list, though it does not say how many rows that are. */
  readonly whole?: boolean
  /** The API's documents say that pages are from one moment, or in the order of a key. Otherwise rows may move. */
  readonly stable?: boolean
  /** Takes only path and query of the links to next pages, for servers that write a wrong host into them. */
  readonly hostOfLinks?: 'ignored'
  /** The path of the list of rows; absent if the answer itself is the list. */
  readonly rows?: string
  readonly body?: Value
}

/** As `fields` in marquee.yaml: a column or path, or a mapping such as `{ column, whenBlank }` or `{ subtract: [a, b] }`. */
export interface Fields {
  readonly Id: string
  readonly [field: string]: Source | null
}

export type Source =
  | string
  | {
      readonly column: string
      readonly whenBlank?: string | Lasting
      readonly wallTimeIn?: string | { readonly column: string }
    }
  | { readonly value: string }
  | { readonly subtract: readonly string[] }
  | {
      readonly join: readonly string[]
      readonly whenBlank?: string | Lasting
      readonly wallTimeIn?: string | { readonly column: string }
    }
  | Lasting

export interface Lasting {
  /** How long after Start, such as `2h30m`. */
  readonly lasting: string
}

/** As a condition in marquee.yaml: every column must hold one of its values, none of them, or be blank. */
export interface Where {
  readonly [column: string]:
    | readonly (string | number | boolean)[]
    | { readonly not: readonly (string | number | boolean)[] }
    | 'blank'
}
