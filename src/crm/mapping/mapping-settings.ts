import type { EventRecord } from '../../domain/event.ts'
import type { Guid } from '../../domain/guid.ts'
import type { VenueRecord } from '../../domain/venue.ts'
import type { Zone } from '../../domain/zone.ts'

/** Where a field comes from, the CRM's stock mapping and the operator's own already merged; null drops it. */
export type FieldSetting = ColumnSetting | ValueSetting

export interface ColumnSetting {
  readonly kind: 'column'
  readonly column: string
  /** What a blank cell is read as. */
  readonly whenBlank: string | null
  /** The words that people see instead of the CRM's codes. */
  readonly label: boolean
}

interface ValueSetting {
  readonly kind: 'value'
  readonly value: string
}

/** The first column less all others, never below 0. */
export interface SubtractSetting {
  readonly kind: 'subtract'
  readonly columns: readonly string[]
}

export type DateSetting = ValueSetting | (ColumnSetting & { readonly wallTimeIn: WallTimeIn | null })

type WallTimeIn =
  | { readonly kind: 'zone'; readonly zone: Zone }
  /** It holds the name of a zone, or the CRM's own code of one. */
  | { readonly kind: 'column'; readonly column: string }

/** Each column must hold one of its values. */
export type ConditionSetting = readonly {
  readonly column: string
  readonly oneOf: readonly (string | number | boolean)[]
}[]

export interface EventsSetting {
  readonly from: string
  readonly fields: EventFieldSettings
  /** Null: every row is. */
  readonly active: ConditionSetting | null
  readonly showOnWeb: ConditionSetting | null
}

export interface VenuesSetting {
  readonly from: string
  readonly fields: { readonly [Name in keyof VenueRecord]: FieldSetting | null }
  readonly active: ConditionSetting | null
}

type EventFieldSettings = {
  readonly [Name in keyof EventRecord]:
    | null
    | (Name extends 'Start' | 'Finish'
        ? DateSetting
        : Name extends 'TicketCapacity' | 'TicketsAvailable'
          ? FieldSetting | SubtractSetting
          : FieldSetting)
}

/** What both lists share. */
export interface MappingSurroundings {
  /** Where the ids of this CRM are no GUIDs: what they become UUIDs of. */
  readonly idNamespace: Guid | null
  /** The venues' `from`, for the ids that events know them by. */
  readonly venuesFrom: string
  /** What dates without an offset are wall times in, where their field says nothing else. */
  readonly zone: Zone
  readonly showIn: Zone
}
