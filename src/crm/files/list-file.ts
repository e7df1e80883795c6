import { columnSource } from '../../config/crm/sources.ts'
import { EVENTS } from '../../domain/event.ts'
import type { ListName, RecordTable } from '../../domain/field.ts'
import { LINKS } from '../../domain/field.ts'
import type { Guid } from '../../domain/guid.ts'
import { VENUES } from '../../domain/venue.ts'
import type { Zone } from '../../domain/zone.ts'
import type { Cell, RowAccess } from '../mapping/cell.ts'
import { openNamedZone } from '../mapping/dates.ts'
import type { ListSetting, MappingSurroundings } from '../mapping/list-setting.ts'
import { mappedColumns } from '../mapping/list-setting.ts'
import type { Suspicions } from '../mapping/suspicions.ts'
import type { MappedRow, RowKind } from '../mapping/map-row.ts'
import { listMapping, mapRow } from '../mapping/map-row.ts'

/** Gives the cell of a column, null where a row lacks it. */
export type CellOf<Row> = RowAccess<Row>['cell']

export interface FileZones {
  /** What a date without an offset is the wall time of. */
  readonly wall: Zone
  readonly showIn: Zone
}

/** One of the two lists. */
export interface ListFile<Item> {
  readonly name: ListName
  readonly suspicions: Suspicions
  /** How a row of a format becomes what the port carries. A file has no version of a row but its bytes. */
  mapper<Row>(
    access: Pick<RowAccess<Row>, 'cell' | 'isThere'>,
    lists: MappingSurroundings['lists'],
  ): (row: Row, where: () => string, version?: number) => MappedRow<Item>
}

export function listFile<Item extends { readonly Id: Guid }>(
  kind: RowKind<Item>,
  { wall, showIn }: FileZones,
  suspicions: Suspicions,
): ListFile<Item> {
  const { table } = kind
  const setting = stockSetting(table)
  return {
    name: table.list,
    suspicions,
    mapper({ cell, isThere }, lists) {
      const access = { cell, label: cell, zoneOf, ...(isThere === undefined ? {} : { isThere }) }
      // Of the formats of files only CSV has nothing but texts.
      const surroundings = {
        idNamespace: null,
        venuesFrom: VENUES.list,
        zone: wall,
        showIn,
        lists,
        isWritten: lists === 'text',
        suspicions,
      }
      suspicions.begin()
      const mapping = listMapping(kind, setting, access, surroundings)
      return (row, where, version = Number.NaN) => mapRow(mapping, row, where, version)
    },
  }
}

/** The columns are called as the contract calls the fields, in that very case. */
function stockSetting({ list, fields }: RecordTable): ListSetting {
  return {
    from: list,
    fields: Object.fromEntries([...fields, LINKS].map(({ name }) => [name, columnSource(name)])),
    active: { column: 'Active', whenBlank: true },
    showOnWeb: list === 'events' ? { column: 'ShowOnWeb', whenBlank: false } : null,
  }
}

/** The columns that a file of each list may have. */
export const LIST_COLUMNS: Readonly<Record<ListName, readonly string[]>> = {
  events: mappedColumns(stockSetting(EVENTS)).map(({ column }) => column),
  venues: mappedColumns(stockSetting(VENUES)).map(({ column }) => column),
}

function zoneOf(cell: Cell): Zone | null {
  return typeof cell === 'string' ? openNamedZone(cell.trim()) : null
}

const MOST = 100
const LONGEST = 80
const LINK_MEMBERS = ['Rel', 'Href', 'Title']

/** The columns of one file that nothing reads, each once; a file with a new one in each row does not fill the memory. */
export class IgnoredColumns {
  /** What somebody reads of a row, or of the links in it. */
  readonly wanted: ReadonlySet<string>
  readonly #known: ReadonlySet<string>
  readonly #names = new Set<string>()
  #before: readonly string[]

  /** @param before those of the read before this one, which a row has that it did not change */
  constructor(known: readonly string[], before: readonly string[] = []) {
    this.#known = new Set(known)
    this.wanted = new Set([...known, ...LINK_MEMBERS])
    this.#before = before
  }

  get names(): readonly string[] {
    return [...this.#names]
  }

  sawColumn(name: string): void {
    if (this.#names.size < MOST && !this.#known.has(name)) this.#names.add(name.slice(0, LONGEST))
  }

  /** A row that is as it was in the read before. */
  sawRowAgain(): void {
    for (const name of this.#before) this.sawColumn(name)
    this.#before = []
  }

  sawRow(row: object): void {
    for (const name in row) if (!this.#known.has(name)) this.sawColumn(name)
  }
}
