/** What is in a column, as Dataverse keeps it. */
export interface ColumnDefinition {
  readonly type:
    | 'String'
    | 'Integer'
    | 'Money'
    | 'Decimal'
    | 'DateTime'
    | 'Lookup'
    | 'Picklist'
    | 'Virtual'
    | 'State'
    | 'Boolean'
  /** Words by language and code. */
  readonly labels?: Readonly<Record<number, Readonly<Record<string, string>>>>
  /** The language of the user who asks for the labels, as an LCID. */
  readonly userLanguage?: number
}

/** Values by the names of the Web API; a number whose digits count is a `JSON.rawJSON`. */
export type Values = Readonly<Record<string, unknown>>

export interface StoredRow {
  readonly id: string
  readonly values: Values
  readonly version: number
}

/** Counts the changes of the whole environment, as Dataverse's row versions do. */
export class Versions {
  current = 900_000

  next(): number {
    return ++this.current
  }
}

/** To the second, as Dataverse keeps it. */
function now(): string {
  return `${new Date().toISOString().slice(0, 19)}Z`
}

/** One table, its rows in the order of their keys. */
export class StandInTable {
  changeTracking = true
  /** Rights narrowed to user level: only these rows are seen; null sees all. */
  visible: ReadonlySet<string> | null = null
  /** The version below which changes are no longer known. */
  oldestKnown = 0
  readonly entitySet: string
  readonly logicalName: string
  readonly key: string
  readonly columns: Map<string, ColumnDefinition>
  readonly rows: Map<string, StoredRow> = new Map()
  readonly deletions: Map<string, number> = new Map()
  readonly #versions: Versions
  /** In order; null where rows came or went since. */
  #ids: readonly string[] | null = null
  /** Of the row that was told of last. */
  #latest = 0

  constructor(
    entitySet: string,
    logicalName: string,
    key: string,
    columns: Readonly<Record<string, ColumnDefinition>>,
    versions: Versions,
  ) {
    this.entitySet = entitySet
    this.logicalName = logicalName
    this.key = key
    const own = { [key]: { type: 'String' }, modifiedon: { type: 'DateTime' } } as const
    this.columns = new Map(Object.entries({ ...own, ...columns }))
    this.#versions = versions
  }

  /** The name in the Web API of each column. */
  get properties(): ReadonlySet<string> {
    return new Set(Array.from(this.columns, ([name, { type }]) => (type === 'Lookup' ? `_${name}_value` : name)))
  }

  /** An option comes into a column of choices, or goes where it has no words. */
  option(column: string, code: string, words: Readonly<Record<number, string>>): void {
    const definition = this.columns.get(column)
    if (definition === undefined) throw new Error(`no column ${column}`)
    const labels: Record<number, Record<string, string>> = {}
    for (const [language, known] of Object.entries(definition.labels ?? {})) {
      labels[Number(language)] = { ...known }
      delete labels[Number(language)]?.[code]
    }
    for (const [language, word] of Object.entries(words)) {
      labels[Number(language)] = { ...labels[Number(language)], [code]: word }
    }
    this.columns.set(column, { ...definition, labels })
  }

  put(id: string, values: Values): void {
    this.deletions.delete(id)
    if (!this.rows.has(id)) this.#ids = null
    this.#latest = this.#versions.next()
    this.rows.set(id, { id, values: { modifiedon: now(), ...values, [this.key]: id }, version: this.#latest })
  }

  /** A change that Dataverse's own reports tell of, or one that moves no version, as computed columns do. */
  change(id: string, values: Values, isTold = true): void {
    const row = this.rows.get(id)
    if (row === undefined) throw new Error(`no row ${id}`)
    const version = isTold ? this.#versions.next() : row.version
    if (isTold) this.#latest = version
    const modified = isTold ? { modifiedon: now() } : {}
    this.rows.set(id, { id, values: { ...row.values, ...modified, ...values }, version })
  }

  remove(id: string): void {
    this.rows.delete(id)
    this.#ids = null
    this.deletions.set(id, this.#versions.next())
  }

  sorted(): readonly StoredRow[] {
    const { visible } = this
    const rows = this.#rowsOf(this.#sortedIds())
    return visible === null ? rows : rows.filter(({ id }) => visible.has(id))
  }

  /** At most `most` of the rows whose keys are above this one, in order. */
  rowsAfter(key: string, most: number): readonly StoredRow[] {
    if (this.visible !== null) {
      return this.sorted()
        .filter(({ id }) => id > key)
        .slice(0, most)
    }
    const ids = this.#sortedIds()
    let [low, high] = [0, ids.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((ids[middle] ?? '') > key) high = middle
      else low = middle + 1
    }
    return this.#rowsOf(ids.slice(low, low + most))
  }

  #sortedIds(): readonly string[] {
    return (this.#ids ??= [...this.rows.keys()].toSorted())
  }

  #rowsOf(ids: readonly string[]): readonly StoredRow[] {
    return ids.map((id) => this.rows.get(id)).filter((row) => row !== undefined)
  }

  changedSince(version: number): readonly StoredRow[] {
    if (version >= this.#latest) return []
    return this.sorted()
      .filter((row) => row.version > version)
      .toSorted((left, right) => left.version - right.version)
  }

  deletedSince(version: number): readonly (readonly [string, number])[] {
    return Array.from(this.deletions).filter(([, at]) => at > version)
  }
}
