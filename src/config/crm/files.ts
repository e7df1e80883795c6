import { EVENTS } from '../../domain/event.ts'
import { VENUES } from '../../domain/venue.ts'
import type { CrmTraits, General } from '../general.ts'
import { proxyUrl } from '../addresses.ts'
import { section } from '../section.ts'
import { duration, guid, path, timeZone, word } from '../values.ts'
import { listFrom, placeOf } from './list-from.ts'
import { fieldSources } from './field-sources.ts'
import { condition } from './condition.ts'
import { type SaidTexts, textKeys, textsOf } from './texts.ts'
import { type TextSettings, fileNamed } from './sources.ts'

const list = {
  from: listFrom
    .optional('`events` or `venues`, each as `.csv`, `.json`, `.ndjson` or `.xlsx`')
    .says('The file, or the URL of one.'),
  active: condition('Which rows are active. By default those whose column `Active` is not no; null means all.'),
  texts: textKeys('`crm.texts`'),
}

/** Two lists in the files of a directory, or on web servers. */
export const files = section({
  kind: word('files'),
  directory: path('the directory that holds events and venues')
    .optional('required, unless both lists have a URL')
    .says(
      'The directory of `events` and `venues`, each as `.json`, `.ndjson` or `.csv`, or of the files that their `from` names.',
    ),
  timeZone: timeZone().optional('the `timeZone` above').says('The time zone of dates without an offset.'),
  idNamespace: guid()
    .optional()
    .says('For ids that are not GUIDs: they become UUIDv5 of this namespace and `<from>/<id>`.'),
  maxFileAge: duration({ leastMs: 1000 })
    .optional('no limit')
    .says(
      'The maximum age of a file, by its modification time or `Last-Modified`. The read of an older file fails, because its export has probably stopped.',
    ),
  requestTimeout: duration({ leastMs: 10 })
    .optional('a third of the maximum age, at most `10s`')
    .says('The time limit of a download by URL.'),
  proxy: proxyUrl()
    .optional('`HTTPS_PROXY` and `NO_PROXY`')
    .says('The forward proxy for URLs; `NO_PROXY` is then ignored.'),
  ca: path('the path of a PEM file').optional().says('Additional certificates to trust for URLs.'),
  texts: textKeys(''),
  events: section({
    ...list,
    showOnWeb: condition('Which events are shown. By default those whose column `ShowOnWeb` is yes; null means all.'),
    fields: fieldSources(EVENTS, { labels: false, hasStockFurther: true, joinsId: true }).override(
      'the columns of the contract',
    ),
  })
    .optional('columns with the contract’s names')
    .says('How the file of events is read; fields that are not listed stay blank.'),
  venues: section({
    ...list,
    fields: fieldSources(VENUES, { labels: false, hasStockFurther: true, joinsId: true }).override(
      'the columns of the contract',
    ),
  })
    .optional('columns with the contract’s names')
    .says('How the file of venues is read; fields that are not listed stay blank.'),
})
  .says(
    'Two lists in files: a first try, nightly exports, spreadsheets (docs/files-as-exported.md, docs/files-by-url.md).',
  )
  .map(({ texts, ...block }) => (general: General) => {
    const { kind, directory, idNamespace } = block
    const zone = { timeZone: block.timeZone ?? general.timeZone }
    const lists = { events: listOf(block.events, texts), venues: listOf(block.venues, texts) }
    const traits: CrmTraits = {
      shaping() {
        const urls = [placeOf(block.events?.from), placeOf(block.venues?.from)].filter((place) => place !== null)
        return { kind, directory, idNamespace, ...lists, ...zone, ...(urls.length === 0 ? {} : { urls }) }
      },
      idNames: () => [fileNamed(block.events, 'events'), fileNamed(block.venues, 'venues')],
      mapsPrice() {
        const fields = block.events?.fields
        return fields === undefined || (fields.Price !== undefined && fields.Price !== null)
      },
    }
    return { ...block, ...lists, ...traits, ...zone }
  })

/** Combines a list's own settings with those for all files. Null `texts`: the file is written for Marquee. */
function listOf<Block extends { readonly texts: SaidTexts }>(
  block: Block | null,
  all: SaidTexts,
): { readonly block: Block | null; readonly texts: TextSettings | null } {
  const isSaid = block !== null || Object.keys(all).length > 0
  return { block, texts: isSaid ? textsOf(all, block?.texts ?? {}) : null }
}
