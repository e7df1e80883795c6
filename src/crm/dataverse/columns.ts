import { nearestName } from '../../domain/nearest-name.ts'
import { parseGuid } from '../../domain/guid.ts'
import type { JsonValue, JsonValues } from '../../domain/json-value.ts'
import type { Context, Row } from '../connector/marquee-connector.d.ts'
import { labelColumn } from '../cells/cell.ts'
import { type MappedColumn, mappedColumns } from '../mapping/list-setting.ts'
import { errorIn, unknownColumn } from './errors.ts'
import type { Labels } from './labels.ts'
import { type TableSetting, ZONE_CODE, ZONE_NAME } from './stock-mapping.ts'
import { type WebApi, isPlainName } from './web-api.ts'
import type { ZoneNames } from './zone-names.ts'

const LOOKUPS: ReadonlySet<string> = new Set(['Lookup', 'Customer', 'Owner'])
/** What stands for a zone that a row does not name. An event without a zone is withheld. */
const NO_ZONE = 'none'

/** The columns of one table: their configured names, and those of the Web API. A lookup `x` is `_x_value` there. */
export class Columns {
  readonly #setting: TableSetting
  readonly #list: string
  readonly #api: WebApi
  readonly #labels: Labels
  readonly #zones: ZoneNames
  /** The columns to request. Nothing else is read: CRM rows also hold secrets, for example a venue's wifi password. */
  readonly #mapped: readonly MappedColumn[]
  readonly #zoneColumns: ReadonlySet<string>
  /** Guessed until the table's definition has been read: an event's venue is a lookup. */
  #names: ReadonlyMap<string, string>
  #isDefined = false
  /** Whether rows have ids other than the key, by which Dataverse reports deletions; `null` before any row came. */
  hasOwnIds: boolean | null = null

  constructor(list: string, setting: TableSetting, api: WebApi, labels: Labels, zones: ZoneNames) {
    this.#list = list
    this.#setting = setting
    this.#api = api
    this.#labels = labels
    this.#zones = zones
    const mapped = mappedColumns(setting)
    const { Start = null, Finish = null } = setting.fields
    this.#zoneColumns = new Set(
      [Start, Finish].flatMap((date) =>
        date?.kind === 'column' && date.wallTimeIn?.kind === 'column' ? [date.wallTimeIn.column] : [],
      ),
    )
    const code = { column: ZONE_CODE, label: false, key: 'fields.Start' }
    this.#mapped = this.#zoneColumns.has(ZONE_NAME) ? [...mapped, code] : mapped
    this.#names = new Map(
      this.#mapped.map(({ column, key }) => [column, key === 'fields.VenueId' ? lookupName(column) : column]),
    )
  }

  /**
   * Requests the first page of a read. If a column is unknown, looks up the names of all once and tries again.
   * @param only the fields to read; all if absent
   */
  async first(context: Context, prefer: readonly string[], only?: ReadonlySet<string>): Promise<JsonValues> {
    const { from } = this.#setting
    for (;;) {
      const columns = this.#mapped.filter(({ key }) => only?.has(key.replace('fields.', '')) ?? true)
      const names = columns.map(({ column }) => encodeURIComponent(this.#nameOf(column)))
      const path = `${from}?$select=${[...new Set(names)].join(',')}`
      try {
        return await this.#api.get(context, path, prefer)
      } catch (cause) {
        const error = errorIn(cause)
        if (error?.kind === 'unknown-table') return this.#failUnknownTable(context)
        if (error?.kind !== 'unknown-column') throw cause
        if (this.#isDefined || !(await this.#readDefinition(context)))
          return this.#failUnknownColumn(context, error.message)
      }
    }
  }

  /** Turns entries into rows by configured names, with the labels of codes and the names of time zones. */
  async rowsOf(context: Context, entries: readonly JsonValues[]): Promise<Row[]> {
    if (this.hasOwnIds === null && entries[0] !== undefined) this.hasOwnIds = this.#isKeyUnread(entries[0])
    const labelled = [...new Set(this.#mapped.filter(({ label }) => label).map(({ column }) => column))]
    await this.#labels.prepare(context, (column) => entries.map((entry) => entry[this.#nameOf(column)] ?? null))
    const others = this.#mapped.filter(({ column }) => this.#nameOf(column) !== column)
    const renamed = others.map(({ column }) => [column, this.#nameOf(column)] as const)
    const tags = this.#setting.fields.Tags
    const rows = entries.map((entry) => {
      // A copy has the shape that all entries have: setting each column would take longer than all else here.
      const row: Record<string, JsonValue> = { ...entry }
      for (const [column, name] of renamed) row[column] = entry[name] ?? null
      for (const column of labelled) {
        const words = this.#labels.wordsOf(column, row[column] ?? null)
        // A list, because a label may contain any separator.
        const isTags = tags?.kind === 'column' && tags.column === column
        row[labelColumn(column)] = isTags ? words : words.length === 0 ? null : words.join(', ')
      }
      return row
    })
    for (const column of this.#zoneColumns) await this.#nameZones(context, rows, column)
    return rows
  }

  /** Replaces the cells of a column by the names of their zones. If a cell of names names none, the code counts. */
  async #nameZones(context: Context, rows: readonly Record<string, JsonValue>[], column: string): Promise<void> {
    const codes = column === ZONE_NAME ? ZONE_CODE : column
    const nameOf = (row: JsonValues): string | null =>
      this.#zones.nameOf(row[column] ?? null) ?? this.#zones.nameOf(row[codes] ?? null)
    let names = rows.map(nameOf)
    if (names.includes(null)) {
      const unnamed = rows.filter((_, index) => names[index] === null)
      const cells = unnamed.flatMap((row) => [row[column] ?? null, row[codes] ?? null])
      await this.#zones.prepare(context, cells)
      names = rows.map(nameOf)
    }
    for (const [index, row] of rows.entries())
      row[column] = names[index] ?? (textOf(row[codes]) || textOf(row[column]) || NO_ZONE)
  }

  #nameOf(column: string): string {
    return this.#names.get(column) ?? column
  }

  /** Returns whether the key was not requested. Dataverse adds the key to each row even then. */
  #isKeyUnread(entry: JsonValues): boolean {
    const requested = new Set(this.#mapped.map(({ column }) => this.#nameOf(column)))
    return Object.entries(entry).some(
      ([name, cell]) =>
        !name.startsWith('_') && !requested.has(name) && typeof cell === 'string' && parseGuid(cell) !== null,
    )
  }

  /** Looks up the names in the table's definition; returns false if it cannot be read. */
  async #readDefinition(context: Context): Promise<boolean> {
    const types = new Map<string, string>()
    try {
      const table = await this.#api.logicalName(context, this.#setting.from)
      if (table === null) return false
      const path = `EntityDefinitions(LogicalName='${table}')/Attributes?$select=LogicalName,AttributeType`
      for (const { LogicalName: name = null, AttributeType: type = null } of await this.#api.rows(context, path))
        if (isPlainName(name)) types.set(name, typeof type === 'string' ? type : '')
    } catch (cause) {
      if (errorIn(cause) === null) throw cause
    }
    if (types.size === 0) return false
    this.#isDefined = true
    const missing = new Map<string, string>()
    const names = new Map<string, string>()
    for (const { column, key } of this.#mapped) {
      const logical = types.has(column) ? column : column.replace(/^_(.+)_value$/, '$1')
      const type = types.get(logical)
      if (type === undefined) missing.set(column, key)
      else names.set(column, LOOKUPS.has(type) ? lookupName(logical) : logical)
    }
    if (missing.size > 0) return this.#failMissing(context, missing, [...types.keys()])
    this.#names = names
    return true
  }

  #failMissing(context: Context, missing: ReadonlyMap<string, string>, known: readonly string[]): never {
    const words = Array.from(missing, ([column, key]) => {
      const near = nearestName(column, known)
      return `${column} (crm.${this.#list}.${key}${near === null ? '' : `; did you mean ${near}?`})`
    })
    // Without its condition, a list would publish every row.
    const orNull = missing.values().every((key) => key.startsWith('fields.')) ? ', or null for none' : ''
    const what = `the table ${this.#setting.from} has no column ${words.join(', ')}; name another${orNull}`
    return context.fail('misconfigured', what)
  }

  #failUnknownColumn(context: Context, message: string): never {
    const named = unknownColumn(message)
    // Quotes only configured names: the rest of an error's text may hold anything.
    const known = this.#mapped.find(({ column }) => column === named || this.#nameOf(column) === named)
    const words = known === undefined ? 'a column that the configuration names' : `the column ${known.column}`
    const what = `${this.#setting.from} does not have ${words}; correct the name in the configuration`
    return context.fail('misconfigured', what)
  }

  async #failUnknownTable(context: Context): Promise<never> {
    const { from } = this.#setting
    const tables = await this.#api.rows(context, 'EntityDefinitions?$select=EntitySetName,LogicalName').catch(() => [])
    const sets = tables.map(({ EntitySetName: set }) => set).filter(isPlainName)
    const own = tables.find(({ LogicalName: name }) => name === from)?.['EntitySetName']
    const near = own ?? nearestName(from, sets)
    const hint = isPlainName(near) ? `did you mean ${near}?` : 'it takes the entity set name, such as msevtmgt_events'
    const what = `crm.${this.#list}.from: the environment has no table ${from}; ${hint}`
    return context.fail('misconfigured', what)
  }
}

function textOf(cell: JsonValue | undefined): string {
  return typeof cell === 'string' || typeof cell === 'number' ? String(cell).trim() : ''
}

function lookupName(column: string): string {
  return /^_.+_value$/.test(column) ? column : `_${column}_value`
}
