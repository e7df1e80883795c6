import { EVENTS } from '../../domain/event.ts'
import { VENUES } from '../../domain/venue.ts'
import type { General, SettingsOfKind } from '../general.ts'
import { type Key, type ValueSchema, REFERENCE, orReference, scalarOf, wholeKey, Wrong } from '../key.ts'
import { section } from '../section.ts'
import { guid, isName, path, textSchema, timeZone, word } from '../values.ts'
import { mappingOf } from './source-schemas.ts'
import { condition, fieldSources } from './sources.ts'
import { type SaidTexts, type TextSettings, textKeys, textsOf } from './texts.ts'

/** A file, and its sheet if it is a workbook; `null` is the first sheet. */
export interface FileName {
  readonly file: string
  readonly sheet: string | null
}

const FILE = 'the name of a .csv, .json, .ndjson or .xlsx file, or { file: NAME, sheet: NAME } of a workbook'

const LIST_FILE = textSchema(
  /\.(?:[Cc][Ss][Vv]|[Tt][Ss][Vv]|[Tt][Xx][Tt]|(?:[Nn][Dd])?[Jj][Ss][Oo][Nn]|[Xx][Ll][Ss][Xx])$/,
)

const FROM: ValueSchema = {
  anyOf: [
    LIST_FILE,
    mappingOf({ file: orReference(LIST_FILE), sheet: orReference({ type: ['string', 'number', 'boolean'] }) }, [
      'file',
    ]),
    REFERENCE,
  ],
}

const from: Key<FileName> = wholeKey(FILE, FROM, (node) => {
  const entries = node.kind === 'map' ? node.entries : null
  if (entries?.keys().some((key) => key !== 'file' && key !== 'sheet') === true) return null
  const file = scalarOf(entries === null ? node : entries.get('file'))?.value
  const sheet = entries?.has('sheet') === true ? scalarOf(entries.get('sheet'))?.value : null
  if (typeof file !== 'string' || !isName(file) || sheet === undefined) return null
  if (/\.xls$/i.test(file)) return new Wrong('names an old Excel workbook (.xls); save it as .xlsx or .csv')
  if (!/\.(?:csv|tsv|txt|json|ndjson|xlsx)$/i.test(file)) return null
  if (sheet !== null && /json$/i.test(file)) return new Wrong('names a sheet, but the file is not a workbook')
  return { file, sheet: sheet === null ? null : String(sheet) }
})

const list = {
  from: from.optional('`events` or `venues`, each as `.csv`, `.json`, `.ndjson` or `.xlsx`').says('The file.'),
  active: condition('Which rows are active. By default those whose column `Active` is not no; null means all.'),
  texts: textKeys('`crm.texts`'),
}

/** Two lists in the files of a directory. */
export const files = section({
  kind: word('files'),
  directory: path('the directory that holds events and venues').says(
    'The directory of `events` and `venues`, each as `.json`, `.ndjson` or `.csv`, or of the files that their `from` names.',
  ),
  timeZone: timeZone().optional('the `timeZone` above').says('The time zone of dates without an offset.'),
  idNamespace: guid()
    .optional()
    .says('For ids that are not GUIDs: they become UUIDv5 of this namespace and `<from>/<id>`.'),
  texts: textKeys(''),
  events: section({
    ...list,
    showOnWeb: condition('Which events are shown. By default those whose column `ShowOnWeb` is yes; null means all.'),
    fields: fieldSources(EVENTS, { labels: false, joinsId: true }).override('the columns of the contract'),
  })
    .optional('columns with the contract’s names')
    .says('How the file of events is read; fields that are not listed stay blank.'),
  venues: section({
    ...list,
    fields: fieldSources(VENUES, { labels: false, joinsId: true }).override('the columns of the contract'),
  })
    .optional('columns with the contract’s names')
    .says('How the file of venues is read; fields that are not listed stay blank.'),
})
  .says('Two lists in files: a first try, nightly exports, spreadsheets (docs/files-as-exported.md).')
  .map(({ texts, events, venues, ...block }) => (general: General) => ({
    ...block,
    timeZone: block.timeZone ?? general.timeZone,
    events: listOf(events, texts),
    venues: listOf(venues, texts),
  }))

/** Combines a list's own settings with those for all files. Null `texts`: the file is written for Marquee. */
function listOf<Block extends { readonly texts: SaidTexts }>(
  block: Block | null,
  all: SaidTexts,
): { readonly block: Block | null; readonly texts: TextSettings | null } {
  const isSaid = block !== null || Object.keys(all).length > 0
  return { block, texts: isSaid ? textsOf(all, block?.texts ?? {}) : null }
}

export type FilesSettings = SettingsOfKind<typeof files>
