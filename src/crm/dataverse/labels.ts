import { type JsonValue, fieldsOf, isJsonList, isJsonObject } from '../../domain/json-value.ts'
import type { Context } from '../connector/marquee-connector.d.ts'
import { errorIn } from './errors.ts'
import type { WebApi } from './web-api.ts'

interface LabelsSettings {
  readonly api: WebApi
  /** The time in ms of a clock that never goes back. */
  readonly nowMs: () => number
  /** The name of the entity set. */
  readonly from: string
  /** The language of the labels, as an LCID; `null` for the language of the application user. */
  readonly language: number | null
  readonly columns: readonly string[]
}

// Most likely types first: the definition of a choice is only found under its own type.
const TYPES = ['MultiSelectPicklist', 'Picklist', 'Status', 'State', 'Boolean'] as const

interface Column {
  words: ReadonlyMap<string, string>
  type: (typeof TYPES)[number] | null
  /** Codes without a label: their option was deleted, or its label cannot be read yet. */
  readonly missing: Set<string>
}

const ENGLISH = 1033
/** While some codes have no label, labels are looked up at most once in this time. */
const LOOK_AGAIN_MS = 60_000
const MOST_MISSING = 1000
const MOST_SHOWN = 5
/** Option numbers are Int32. */
const LONGEST_CODE = 11
/** The codes of several choices, of which a column has a few hundred at most. */
const LONGEST_CODES = 16_384

/** The labels that people see for the codes in some columns of one table. */
export class Labels {
  readonly #settings: LabelsSettings
  readonly #columns = new Map<string, Column>()
  #table: string | null = null
  #readAtMs = Number.NEGATIVE_INFINITY

  constructor(settings: LabelsSettings) {
    this.#settings = settings
    for (const name of settings.columns) this.#columns.set(name, { words: new Map(), type: null, missing: new Set() })
  }

  /** Reads all labels again; if that fails, the known ones stay. */
  async read(context: Context): Promise<void> {
    if (this.#columns.size === 0) return
    const { api, nowMs, from } = this.#settings
    const begunAtMs = nowMs()
    this.#table ??= await api.logicalName(context, from)
    const table = this.#table ?? context.fail('broken', `the definition of ${from} was not found`)
    for (const [name, column] of this.#columns) {
      column.words = await this.#readColumn(context, table, name, column)
      column.missing.clear()
    }
    this.#readAtMs = begunAtMs
  }

  /** Looks up the codes of a page that have no label, and tells the operator of those that have none in the CRM. */
  async prepare(context: Context, cellsOf: (column: string) => readonly JsonValue[]): Promise<void> {
    const isPatient = this.#columns.values().some(({ missing }) => missing.size > 0)
    const unknown = Array.from(
      this.#columns,
      ([name, column]) => [column, codesWithout(column, cellsOf(name))] as const,
    )
    if (unknown.some(([{ missing }, codes]) => codes.some((code) => !missing.has(code)))) {
      const elapsedMs = this.#settings.nowMs() - this.#readAtMs
      if (elapsedMs >= (isPatient ? LOOK_AGAIN_MS : 0)) await this.read(context)
    }
    for (const [{ words, missing }, codes] of unknown)
      for (const code of codes) if (!words.has(code) && missing.size < MOST_MISSING) missing.add(code)
    for (const [name, { missing }] of this.#columns) {
      if (missing.size === 0) continue
      const shown = [...missing].slice(0, MOST_SHOWN).join(', ')
      const codes = missing.size > MOST_SHOWN ? `${shown} and others` : shown
      const remedy = 'give their options a label again, or remove them from the rows'
      context.notice(`codes in ${name} have no label in the CRM: ${codes}; the rows are shown without them; ${remedy}`)
    }
  }

  /** Returns the label of each code in a cell that has one. */
  wordsOf(column: string, cell: JsonValue): readonly string[] {
    const words = this.#columns.get(column)?.words
    return codesOf(cell).flatMap((code) => words?.get(code) ?? [])
  }

  async #readColumn(context: Context, table: string, name: string, column: Column): Promise<Column['words']> {
    const { api, language } = this.#settings
    // Whether the answer comes from Dataverse itself: a proxy in between may not know these URLs at all.
    let isSaid = true
    for (const type of column.type === null ? TYPES : new Set([column.type, ...TYPES])) {
      const definition = `EntityDefinitions(LogicalName='${table}')/Attributes(LogicalName='${name}')`
      const path = `${definition}/Microsoft.Dynamics.CRM.${type}AttributeMetadata?$select=LogicalName&$expand=OptionSet,GlobalOptionSet`
      try {
        const words = labelsOf(await api.get(context, path), language)
        column.type = type
        return words ?? context.fail('broken', `the definition of the column ${name} of ${table} is invalid`)
      } catch (cause) {
        // Dataverse answers 404 or 400 for another type's definition. Anything else is a failure.
        const error = errorIn(cause)
        if (error?.status !== 404 && error?.status !== 400) throw cause
        isSaid &&= error.message !== ''
      }
    }
    const what = `no labels were found for the column ${name} of ${table}: is it a column of choices?`
    return context.fail(isSaid ? 'misconfigured' : 'broken', what)
  }
}

function codesWithout({ words }: Column, cells: readonly JsonValue[]): readonly string[] {
  const codes = new Set<string>()
  for (const cell of cells) {
    for (const code of codesOf(cell))
      if (code.length <= LONGEST_CODE && !words.has(code) && codes.size < MOST_MISSING) codes.add(code)
  }
  return [...codes]
}

/** A column with several choices holds numbers separated by commas. */
function codesOf(cell: JsonValue): readonly string[] {
  if (typeof cell === 'boolean' || typeof cell === 'number') return [String(cell)]
  if (typeof cell !== 'string' || cell.length > LONGEST_CODES) return []
  return cell
    .split(',')
    .map((code) => code.trim())
    .filter((code) => code !== '')
}

/** Returns the labels by code; `null` if the definition has no options and so is not a choice column. */
function labelsOf(definition: JsonValue, language: number | null): ReadonlyMap<string, string> | null {
  const { GlobalOptionSet = null, OptionSet = null } = isJsonObject(definition) ? definition : {}
  const sets = [GlobalOptionSet, OptionSet].filter(isJsonObject)
  const labels = new Map<string, string>()
  const add = (option: JsonValue, code: unknown): void => {
    const text = isJsonObject(option) ? labelText(option['Label'] ?? null, language) : null
    if (text !== null && (typeof code === 'number' || typeof code === 'string')) labels.set(String(code), text)
  }
  for (const { Options = null, TrueOption = null, FalseOption = null } of sets) {
    for (const option of isJsonList(Options) ? Options : []) add(option, fieldsOf(option)['Value'])
    add(TrueOption, 'true')
    add(FalseOption, 'false')
  }
  return sets.length === 0 ? null : labels
}

/**
 * Returns the label in the requested language, else in that of the user, else in English, else in any: that is better
 * than none.
 */
function labelText(label: JsonValue, language: number | null): string | null {
  const { LocalizedLabels = null, UserLocalizedLabel = null } = isJsonObject(label) ? label : {}
  const known = (isJsonList(LocalizedLabels) ? LocalizedLabels : []).filter(isJsonObject)
  const inLanguage = (code: number | null): JsonValue => known.find(({ LanguageCode }) => LanguageCode === code) ?? null
  const candidates = [inLanguage(language), UserLocalizedLabel, inLanguage(ENGLISH), known.at(-1) ?? null]
  const text = candidates.find(isJsonObject)?.['Label'] ?? null
  return typeof text === 'string' ? text : null
}
