// Where the CRM's rows come from and how they become records, as the configuration says it: values without their
// parsing.

import type { DateFormat } from '../../domain/date-format.ts'
import type { EventRecord } from '../../domain/event.ts'
import type { ListName } from '../../domain/field.ts'
import type { Secret } from '../../domain/secret.ts'
import type { VenueRecord } from '../../domain/venue.ts'
import type { Zone } from '../../domain/zone.ts'

/** The source of a field's value. */
export type FieldSource = ColumnSource | ValueSource | SubtractSource | JoinSource | LastingSource

export interface ColumnSource {
  readonly kind: 'column'
  readonly column: string
  /** The text to read instead of a blank cell, for dates also another column; `null` if it stays blank. */
  readonly whenBlank: string | LastingSource | ColumnSource | null
  /** Whether to read the labels that people see instead of the CRM's codes. */
  readonly label: boolean
  /** What to read instead of certain texts of a cell, trimmed and in lower case; `null` stands for a blank cell. */
  readonly values?: readonly (readonly [from: string, to: string | null])[]
  /** Whether the cells are HTML, of which only the text is read; absent if the configuration does not say. */
  readonly html?: boolean
  /** What precedes a value that is no absolute address. */
  readonly prefix?: string
  /** The zone of dates without an offset, if the field names one. */
  readonly wallTimeIn?: WallTimeIn
  /** What is read of several cells that the path finds. */
  readonly pick?: (typeof PICKS)[number]
  /** The rows in which the column, or the constant of `whenBlank`, is read; in others the field is blank. */
  readonly onlyWhere?: Condition
}

export type WallTimeIn =
  | { readonly kind: 'zone'; readonly zone: Zone }
  /** A column that holds a zone's name or the CRM's code of it. */
  | { readonly kind: 'column'; readonly column: string }

interface ValueSource extends Pick<ColumnSource, 'onlyWhere'> {
  readonly kind: 'value'
  readonly value: string
}

/** The first column minus all others, at least 0. */
export interface SubtractSource extends Pick<ColumnSource, 'values' | 'onlyWhere'> {
  readonly kind: 'subtract'
  readonly columns: readonly string[]
  /** The number to read if the first column is blank. */
  readonly whenBlank?: string
}

/** Several columns, joined with blanks. */
export interface JoinSource extends Pick<ColumnSource, 'whenBlank' | 'values' | 'wallTimeIn'> {
  readonly kind: 'join'
  readonly columns: readonly string[]
}

/** A duration after Start, or until the end of the day of Start. */
export interface LastingSource {
  readonly kind: 'lasting'
  readonly lastingMs: number | 'day'
}

/** The column to read if the first one is blank. */
export function secondColumn(source: FieldSource | null): ColumnSource | null {
  const whenBlank = source?.kind === 'column' || source?.kind === 'join' ? source.whenBlank : null
  return typeof whenBlank === 'object' && whenBlank?.kind === 'column' ? whenBlank : null
}

/** A source that reads a column unchanged. */
export function columnSource(column: string): ColumnSource {
  return { kind: 'column', column, whenBlank: null, label: false }
}

/** The condition on the rows in which a source is read. */
export function onlyWhereOf(source: FieldSource | null): Condition {
  const hasRows = source?.kind === 'column' || source?.kind === 'value' || source?.kind === 'subtract'
  return (hasRows ? source.onlyWhere : undefined) ?? []
}

/** The columns that a field's value is read from. */
export function columnsOf(source: FieldSource | null | undefined): readonly string[] {
  if (source?.kind === 'column') return [source.column]
  return source?.kind === 'join' || source?.kind === 'subtract' ? source.columns : []
}

/** The columns that a joined value or a difference is made of. */
export function joinedColumns({ columns, values }: JoinSource | SubtractSource): readonly ColumnSource[] {
  return columns.map((column) => ({ ...columnSource(column), ...(values === undefined ? {} : { values }) }))
}

/** The sources of fields. An absent field keeps the stock mapping; null drops it. */
export type FieldSources = {
  readonly [Name in Exclude<keyof EventRecord | keyof VenueRecord, 'Further'>]?: FieldSource | null
}

/** Whether Price is the lowest of the prices that a cell or a path has. */
export function isLowestPrice({ Price }: FieldSources = {}): boolean {
  return Price?.kind === 'column' && Price.pick === 'least'
}

/** How one value is made of the several cells that a path finds. Blank cells do not count. */
export const PICKS = ['first', 'least', 'greatest', 'sum', 'count'] as const

/** Conditions on columns, all of which must hold. */
export type Condition = readonly ConditionPart[]

/** A condition on one column: it must hold one of the values, none of them, or be blank. */
export type ConditionPart =
  | { readonly column: string; readonly oneOf: readonly ConditionValue[] }
  | { readonly column: string; readonly noneOf: readonly ConditionValue[] }
  | { readonly column: string; readonly blank: true }

export type ConditionValue = string | number | boolean

/** How the rows of a list become records, from the connector and the configuration. */
export interface ListShape {
  readonly fields: FieldSources
  readonly active: Condition | null
  readonly showOnWeb: Condition | null
  /** The path of the time that changes whenever the row does; `null` if the rows have none. */
  readonly updatedAt: string | null
}

/** The configuration of one list. */
export type SaidList = Partial<Omit<ListShape, 'fields'>> & { readonly fields?: FieldSources | undefined }

/** How the texts of a file that was not written for Marquee are read. */
export interface TextSettings {
  /**
   * The character between cells; `null` if not configured, which means the one in the file's `sep=` line, else a comma.
   */
  readonly delimiter: string | null
  /** The encoding, by TextDecoder's name. */
  readonly encoding: string
  /** The decimal separator; `null` if not configured, which means a point, and no thousands separators. */
  readonly decimal: '.' | ',' | null
  /** Signs and words allowed before or after a price. */
  readonly currency: readonly string[]
  /** Date formats, tried in this order after ISO 8601. */
  readonly dates: readonly DateFormat[]
  /** Words in addition to true, yes, 1 and false, no, 0; in lower case. */
  readonly yes: readonly string[]
  readonly no: readonly string[]
  /** The separators of tags. */
  readonly tags: readonly string[]
  /** The row of the header, counted from 1; `null` if not configured, which means the first row with a value. */
  readonly headerRow: number | null
}

/** A file in the directory. */
export interface FileName {
  readonly file: string
  /** The sheet, if it is a workbook; `null` is the first one. */
  readonly sheet: string | null
}

/** A file on a web server. */
export interface WebFile {
  /** The URL; its query may contain a signature, so it is never shown. */
  readonly url: Secret
  readonly sheet: string | null
  /** Request headers, by lower-case name. */
  readonly headers: Readonly<Record<string, Secret>>
}

/**
 * The prefix of ids from files: the file's name if configured, else the list's, since the signature in a URL changes.
 */
export function fileNamed(block: { readonly from: FileName | WebFile | null } | null, list: ListName): string {
  const from = block?.from ?? null
  return from !== null && 'file' in from ? from.file : list
}

export const SSL_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const

/** How a connection is encrypted and verified, in libpq's terms. */
type SslMode = (typeof SSL_MODES)[number]

/** The address of a PostgreSQL database, with the role and the kind of connection. */
export interface PostgresAddress {
  /** A name, an IP address without brackets, or the directory of a Unix socket. */
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string | null
  readonly database: string
  readonly sslMode: SslMode
  /** Paths as written in the URL; `system` stands for the runtime's certificates. */
  readonly sslRootCert: string | null
  readonly sslCert: string | null
  readonly sslKey: string | null
  readonly applicationName: string | null
}
