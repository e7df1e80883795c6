import { EVENTS } from '../../domain/event.ts'
import { VENUES } from '../../domain/venue.ts'
import type { ListName } from '../../domain/field.ts'
import type { FurtherFields } from '../../domain/further.ts'
import type { Guid } from '../../domain/guid.ts'
import type { Zone } from '../../domain/zone.ts'
import { type FileProblems, type Problem, PROBLEM, Place } from '../config-problem.ts'
import type { CrmTraits, General } from '../general.ts'
import { section } from '../section.ts'
import type { Tree } from '../tree.ts'
import { NAME, duration, guid, text, timeZone } from '../values.ts'
import { type FieldSources, fieldSources } from './sources.ts'
import { type Condition, condition } from './condition.ts'

/** How the rows of a list become records, from the connector and the configuration. */
export interface ListShape {
  readonly fields: FieldSources
  readonly active: Condition | null
  readonly showOnWeb: Condition | null
  /** The path of the time that changes whenever the row does; `null` if the rows have none. */
  readonly updatedAt: string | null
}

const columns = {
  active: condition('Which rows are active. Null: all are.').override('what the connector says, else all'),
  updatedAt: text('the name of a column, or a path', NAME)
    .orNull()
    .override('what the connector says, else none')
    .says('The time that moves whenever a row changes, as a column or a path such as `meta.changed`.'),
}

const ofEvents = {
  ...columns,
  showOnWeb: condition('Which events are shown. Null: all are.').override('what the connector says, else all'),
  fields: fieldSources(EVENTS, { labels: false, mayLackFurther: true }).override('what the connector says'),
}
const ofVenues = {
  ...columns,
  fields: fieldSources(VENUES, { labels: false, mayLackFurther: true }).override('what the connector says'),
}

/** The keys of each list. */
export const listKeys = { events: ofEvents, venues: ofVenues }

/** The keys that every connector has, besides its own and its lists. */
export const commonKeys = {
  idNamespace: guid()
    .optional()
    .says('For ids that are not UUIDs: they become UUIDv5 of this namespace and `<list>/<id>`.'),
  timeZone: timeZone().optional('the `timeZone` above').says('The zone of dates without an offset.'),
  requestTimeout: duration({ leastMs: 10 })
    .optional('a third of the maximum age, at most `10s`')
    .says('The time limit of one request.'),
  availability: section({
    every: duration({ leastMs: 100 }).says('How often TicketsAvailable and TicketCapacity are read separately.'),
  })
    .optional('every `5s`, if the connector has such a read')
    .says('The separate read of TicketsAvailable and TicketCapacity.'),
}

/** The lists of a connector that has its own mapping. */
export const connectorLists = {
  events: section(ofEvents).optional('what the connector says').says('What differs from the connector’s own events.'),
  venues: section(ofVenues).optional('what the connector says').says('What differs from the connector’s own venues.'),
}

/** The keys of connectors that bring their own mapping. */
export const connectorKeys = { ...commonKeys, ...connectorLists }

/** The configuration of one list. */
export type SaidList = Partial<Omit<ListShape, 'fields'>> & { readonly fields?: FieldSources | undefined }

/** Reads what the connector declares about one list, by the same keys as the configuration. */
export function listInModule(
  name: ListName,
  said: unknown,
  file: string,
  further: FurtherFields,
): { readonly ok: true; readonly list: SaidList } | { readonly ok: false; readonly problem: Problem } {
  const inFile: FileProblems = {
    file,
    folder: '',
    further,
    stateDirectory: null,
    elsewhere: () => null,
    problems: [],
    doubtful: new Set(),
  }
  const key = section(name === 'events' ? ofEvents : ofVenues)
  const read = key.read(treeOf(said), new Place(inFile).in(name, undefined))
  const [problem] = inFile.problems
  if (read !== PROBLEM && problem === undefined) return { ok: true, list: read }
  const unnamed = { file, key: name, found: null, message: 'cannot be read' }
  return { ok: false, problem: { ...(problem ?? unnamed), line: null } }
}

/** Merges the configuration with what the connector declares. The configuration takes precedence, field by field. */
export function mergedShape(own: SaidList, said: SaidList | null): ListShape {
  const { fields: ownFields, ...stock } = own
  const { fields, ...rest } = said ?? {}
  return {
    active: null,
    showOnWeb: null,
    updatedAt: null,
    ...stock,
    ...rest,
    fields: { ...ownFields, ...fields },
  }
}

interface ConnectorBlock {
  readonly kind: string
  readonly idNamespace: Guid | null
  readonly timeZone: Zone | null
  readonly events: Pick<SaidList, 'fields'> | null
  readonly venues: unknown
}

/**
 * Returns the settings of a connector that has its own mapping.
 * @param ownShaping the connector's own settings that shape records
 */
export function settingsOfConnector<Block extends ConnectorBlock>(
  ownShaping: (block: Block) => Readonly<Record<string, unknown>>,
): (block: Block) => (general: General) => Block & { readonly timeZone: Zone } & CrmTraits {
  return (block) => (general) => {
    const { kind, idNamespace, events, venues } = block
    const zone = { timeZone: block.timeZone ?? general.timeZone }
    return {
      ...block,
      ...zone,
      shaping: () => ({ kind, ...ownShaping(block), idNamespace, events, venues, ...zone }),
      idNames: () => ['events', 'venues'],
      // A connector may map it by itself.
      mapsPrice: () => events?.fields?.Price !== null,
    }
  }
}

/** A JSON value as the configuration's parser gives it. */
function treeOf(value: unknown): Tree {
  if (Array.isArray(value)) return { kind: 'list', line: 0, items: value.map(treeOf) }
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).map(([name, inner]) => [name, treeOf(inner)] as const)
    return { kind: 'map', line: 0, entries: new Map(entries) }
  }
  const isScalar = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
  return { kind: 'scalar', line: 0, value: isScalar ? value : null }
}
