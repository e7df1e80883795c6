import type { Reply } from './reply.ts'
import { json, refusal } from './reply.ts'
import type { ColumnDefinition, StandInTable } from './stand-in-table.ts'

const CASTS: Readonly<Record<string, ColumnDefinition['type']>> = {
  MultiSelectPicklist: 'Virtual',
  Picklist: 'Picklist',
  State: 'State',
  Status: 'State',
  Boolean: 'Boolean',
}

/** Answers for definitions of tables and columns. */
export function answerMetadata(tables: readonly StandInTable[], rawPath: string): Reply {
  const path = decodeURIComponent(rawPath)
  const [resource = '', query = ''] = path.split('?')
  if (resource === '/api/data/v9.2/EntityDefinitions') return definitions(tables, query)
  const [, logicalName, rest = ''] = /EntityDefinitions\(LogicalName='(\w+)'\)\/(.*)$/.exec(resource) ?? []
  const table = tables.find((candidate) => candidate.logicalName === logicalName)
  if (table === undefined)
    return refusal(404, '0x80060888', `Could not find an entity with LogicalName '${logicalName}'`)
  if (rest === 'Attributes') {
    const value = Array.from(table.columns, ([name, { type }]) => ({ LogicalName: name, AttributeType: type }))
    return json({ '@odata.context': 'x', value })
  }
  const [, column = '', cast = ''] =
    /^Attributes\(LogicalName='(\w+)'\)\/Microsoft\.Dynamics\.CRM\.(\w+)AttributeMetadata$/.exec(rest) ?? []
  const definition = table.columns.get(column)
  if (definition === undefined || CASTS[cast] !== definition.type) {
    return refusal(404, '0x80060888', 'Could not find the attribute')
  }
  return json({ LogicalName: column, OptionSet: { Options: optionsOf(definition) }, GlobalOptionSet: null })
}

function definitions(tables: readonly StandInTable[], query: string): Reply {
  const [, set = null] = /\$filter=EntitySetName eq '(\w+)'/.exec(query) ?? []
  const isTracked = query.includes('$filter=ChangeTrackingEnabled eq true')
  const found = tables.filter(
    (table) => (set === null || table.entitySet === set) && (!isTracked || table.changeTracking),
  )
  return json({
    '@odata.context': 'x',
    value: found.map(({ entitySet, logicalName, changeTracking }) => ({
      LogicalName: logicalName,
      EntitySetName: entitySet,
      ChangeTrackingEnabled: changeTracking,
    })),
  })
}

function optionsOf({ labels = {}, userLanguage }: ColumnDefinition): unknown[] {
  const codes = new Set(Object.values(labels).flatMap((words) => Object.keys(words)))
  return Array.from(codes, (code) => ({
    Value: Number(code),
    Label: {
      LocalizedLabels: Object.entries(labels).map(([language, words]) => ({
        Label: words[code],
        LanguageCode: Number(language),
      })),
      UserLocalizedLabel:
        userLanguage === undefined ? null : { Label: labels[userLanguage]?.[code], LanguageCode: userLanguage },
    },
  }))
}
