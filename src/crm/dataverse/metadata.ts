import { nearestName } from '../../domain/nearest-name.ts'
import { type Failure, failureOf } from '../../sync/port.ts'
import { type Cell, type CellObject, isList, isObject, sourceDigits } from '../cells/cell.ts'
import type { MappedColumn } from '../mapping/list-setting.ts'
import { parseShallowInSlices } from '../cells/parse-cell.ts'
import { type Rest, inSlices } from '../../time/waiting.ts'
import type { DataverseClient, PageAnswer } from './client.ts'

export type Attributes = ReadonlyMap<string, string>

/** Reads logical table names by entity set name, of all tables or of one entity set. */
export function readTables(
  client: DataverseClient,
  signal: AbortSignal,
  entitySet: string | null = null,
): Promise<ReadonlyMap<string, string> | Failure> {
  const filter = entitySet === null ? '' : `&$filter=EntitySetName%20eq%20'${encodeURIComponent(entitySet)}'`
  return readPairs(client, 'EntityDefinitions', ['EntitySetName', 'LogicalName'], filter, signal)
}

export function readAttributes(
  client: DataverseClient,
  table: string,
  signal: AbortSignal,
): Promise<Attributes | Failure> {
  const path = `EntityDefinitions(LogicalName='${table}')/Attributes`
  return readPairs(client, path, ['LogicalName', 'AttributeType', ''], '', signal)
}

/**
 * Reads two columns into a map from `key` to `value`. A row without a value gets `otherwise`; if there is no
 * `otherwise`, the row is left out.
 */
async function readPairs(
  client: DataverseClient,
  path: string,
  [key, value, otherwise]: readonly [key: string, value: string, otherwise?: string],
  filter: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string> | Failure> {
  const rows = await readRows(client, `${path}?$select=${key},${value}${filter}`, signal)
  if ('kind' in rows) return rows
  const pairs = new Map<string, string>()
  for (const { [key]: name = null, [value]: text = null } of rows) {
    const found = isName(text) ? text : otherwise
    if (isName(name) && found !== undefined) pairs.set(name, found)
  }
  return pairs
}

// Most likely types first: the definition of a choice is only found under its own type.
const CHOICES = ['MultiSelectPicklist', 'Picklist', 'Status', 'State', 'Boolean'] as const

export type ChoiceType = (typeof CHOICES)[number]

const ENGLISH = 1033

interface Choice {
  readonly table: string
  readonly column: string
  readonly type: ChoiceType | null
  readonly language: number | null
}

/** Reads the labels of a choice column in one language, and the type under which its definition was found. */
export async function readLabels(
  client: DataverseClient,
  { table, column, type: known, language }: Choice,
  signal: AbortSignal,
): Promise<{ readonly words: ReadonlyMap<string, string>; readonly type: ChoiceType } | Failure> {
  // Whether the answer comes from Dataverse itself: a proxy in between may not know these URLs at all.
  let isSaid = true
  for (const type of known === null ? CHOICES : new Set([known, ...CHOICES])) {
    const path = `EntityDefinitions(LogicalName='${table}')/Attributes(LogicalName='${column}')/Microsoft.Dynamics.CRM.${type}AttributeMetadata?$select=LogicalName&$expand=OptionSet,GlobalOptionSet`
    const got = await client.get(client.urlOf(path), [], signal)
    if (got.kind === 'error') {
      // Dataverse answers 404 or 400 for another type's definition. Anything else is a failure.
      if (got.status !== 404 && got.status !== 400) return got.failure
      isSaid &&= got.body.message !== ''
      continue
    }
    const rest = inSlices()
    const parsed = await parseShallowInSlices(got.text, rest)
    const words = parsed.ok ? await labelsOf(parsed.cell, language, rest) : null
    if (words !== null) return { words, type }
    return failureOf('broken', `the definition of the column ${column} of ${table} is invalid${got.note}`)
  }
  const message = `no labels were found for the column ${column} of ${table}: is it a column of choices?`
  return failureOf(isSaid ? 'misconfigured' : 'broken', message)
}

/** Returns true if a cell is a valid name. Names from the CRM are used in URLs and messages. */
function isName(cell: Cell): cell is string {
  return typeof cell === 'string' && /^\w{1,128}$/.test(cell)
}

/** Returns the labels by code; `null` if the definition has no options and so is not a choice column. */
async function labelsOf(
  definition: Cell,
  language: Choice['language'],
  rest: Rest,
): Promise<ReadonlyMap<string, string> | null> {
  if (!isObject(definition)) return null
  const labels = new Map<string, string>()
  const sets = [definition['GlobalOptionSet'] ?? null, definition['OptionSet'] ?? null].filter(isObject)
  for (const set of sets) {
    const { Options = null, TrueOption = null, FalseOption = null } = set
    for (const [index, option] of (isList(Options) ? Options : []).entries()) {
      if (index % STEP === 0) await rest()
      addLabel(labels, option, null, language)
    }
    addLabel(labels, TrueOption, 'true', language)
    addLabel(labels, FalseOption, 'false', language)
  }
  return sets.length === 0 ? null : labels
}

function addLabel(labels: Map<string, string>, option: Cell, code: string | null, language: Choice['language']): void {
  if (!isObject(option)) return
  const value = code ?? sourceDigits(option['Value'] ?? null)
  const text = labelText(option['Label'] ?? null, language)
  if (value !== null && text !== null) labels.set(value, text)
}

/**
 * Returns the label in the requested language, else in that of the user, else in English, else in any: that is better
 * than none.
 */
function labelText(label: Cell, language: Choice['language']): string | null {
  if (!isObject(label)) return null
  const { LocalizedLabels = null, UserLocalizedLabel = null } = label
  const known = (isList(LocalizedLabels) ? LocalizedLabels : []).filter(isObject)
  const inLanguage = (code: number | null): Cell => known.find(({ LanguageCode }) => LanguageCode === code) ?? null
  const candidates = [inLanguage(language), UserLocalizedLabel, inLanguage(ENGLISH), known.at(-1) ?? null]
  const found = candidates.find(isObject)
  return typeof found?.['Label'] === 'string' ? found['Label'] : null
}

const STEP = 64
const MOST_PAGES = 20

/** Reads all rows of a short list, for example of metadata, following a limited number of pages. */
export async function readRows(
  client: DataverseClient,
  path: string,
  signal: AbortSignal,
): Promise<readonly CellObject[] | Failure> {
  const rows: CellObject[] = []
  let next: string | null = client.urlOf(path)
  for (let pages = 0; next !== null && pages < MOST_PAGES; pages++) {
    const answer: PageAnswer = await client.page('the definitions', next, [], signal)
    if (answer.kind === 'error') return answer.failure
    const { page } = answer
    if (page.rows === null) return failureOf('broken', 'the definitions: the answer has no value')
    // Not a spread, because a page may have more rows than a call can have arguments.
    for (const row of page.rows) rows.push(row)
    next = page.nextLink
  }
  if (next !== null) return failureOf('broken', `the definitions have more than ${MOST_PAGES} pages`)
  return rows
}

const LOOKUPS: ReadonlySet<string> = new Set(['Lookup', 'Customer', 'Owner'])

/** The Web API's names of configured columns: a lookup `x` is `_x_value`. */
export type ColumnNames = ReadonlyMap<string, string>

/** Guesses the names without a request: an event's venue is a lookup. */
export function likelyNames(columns: readonly MappedColumn[]): ColumnNames {
  return new Map(columns.map(({ column, key }) => [column, key === 'fields.VenueId' ? lookupName(column) : column]))
}

/** Looks up the names in the table's definition. Returns a sentence that names all missing columns if there are any. */
export function definedNames(
  columns: readonly MappedColumn[],
  attributes: Attributes,
  list: string,
): ColumnNames | string {
  const names = new Map<string, string>()
  const missing = new Map<string, string>()
  for (const { column, key } of columns) {
    const logical = attributes.has(column) ? column : column.replace(/^_(.+)_value$/, '$1')
    const type = attributes.get(logical)
    if (type === undefined) missing.set(column, key)
    else names.set(column, LOOKUPS.has(type) ? lookupName(logical) : logical)
  }
  return missing.size === 0 ? names : missingWords(missing, attributes, list)
}

function lookupName(column: string): string {
  return /^_.+_value$/.test(column) ? column : `_${column}_value`
}

function missingWords(missing: ReadonlyMap<string, string>, attributes: Attributes, list: string): string {
  const words = Array.from(missing, ([column, key]) => {
    const near = nearestName(column, attributes.keys())
    return `${column} (crm.${list}.${key}${near === null ? '' : `; did you mean ${near}?`})`
  })
  // Without its condition, a list would publish every row.
  const areFields = missing.values().every((key) => key.startsWith('fields.'))
  return `the table has no column ${words.join(', ')}; name another${areFields ? ', or null for none' : ''}`
}
