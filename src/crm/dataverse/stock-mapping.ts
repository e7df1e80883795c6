import type { EventOverrides, VenueOverrides } from '../../config/crm/list-blocks.ts'
import type { Condition } from '../../config/crm/condition.ts'
import type { ColumnSetting, EventsSetting, FieldSetting, VenuesSetting } from '../mapping/mapping-settings.ts'

/** What the configuration says of a table. */
interface TableSettings<Overrides> {
  readonly from: string
  readonly fields: Overrides
  readonly active?: Condition | null | undefined
}

export interface EventsTable extends TableSettings<EventOverrides> {
  readonly showOnWeb?: Condition | null | undefined
}

export type VenuesTable = TableSettings<VenueOverrides>

const ZONE_NAME = 'msevtmgt_eventtimezonename'

/** Where a column names no zone, the column that holds Dynamics' own code of it. */
export const ZONE_CODES: ReadonlyMap<string, string> = new Map([[ZONE_NAME, 'msevtmgt_eventtimezone']])

/** The events of Dynamics 365 Marketing and Customer Insights, with what the operator says instead. */
export function eventsSetting({ from, fields, active, showOnWeb }: EventsTable): EventsSetting {
  const wallTimeIn = { kind: 'column', column: ZONE_NAME } as const
  const capacity = 'msevtmgt_maximumeventcapacity'
  return {
    from,
    fields: {
      Id: fields.Id ?? column('msevtmgt_eventid'),
      Name: or(fields.Name, column('msevtmgt_name')),
      VenueId: or(fields.VenueId, column('msevtmgt_primaryvenue')),
      TicketCapacity: or(fields.TicketCapacity, column(capacity)),
      TicketsAvailable: or(fields.TicketsAvailable, {
        kind: 'subtract',
        columns: [capacity, 'msevtmgt_registrationcount'],
      }),
      Start: or(fields.Start, { ...column('msevtmgt_eventstartdate'), wallTimeIn }),
      Finish: or(fields.Finish, { ...column('msevtmgt_eventenddate'), wallTimeIn }),
      // An event has no price of its own there: passes have.
      Price: or(fields.Price, ZERO),
      Tags: fields.Tags ?? null,
      Links: fields.Links ?? null,
    },
    active: or(active, IS_ACTIVE),
    showOnWeb: or(showOnWeb, [
      { column: 'msevtmgt_publishstatus', oneOf: [100_000_003] },
      { column: 'msevtmgt_istemplate', oneOf: [100_000_002] },
    ]),
  }
}

export function venuesSetting({ from, fields, active }: VenuesTable): VenuesSetting {
  return {
    from,
    fields: {
      Id: fields.Id ?? column('msevtmgt_venueid'),
      Name: or(fields.Name, column('msevtmgt_name')),
      AddressStreet1: or(fields.AddressStreet1, column('msevtmgt_addressline1')),
      AddressStreet2: or(fields.AddressStreet2, column('msevtmgt_addressline2')),
      AddressStreet3: or(fields.AddressStreet3, column('msevtmgt_addressline3')),
      AddressCity: or(fields.AddressCity, column('msevtmgt_city')),
      AddressPostalCode: or(fields.AddressPostalCode, column('msevtmgt_postalcode')),
      AddressState: or(fields.AddressState, column('msevtmgt_stateprovince')),
      AddressCountry: or(fields.AddressCountry, column('msevtmgt_country')),
      // A venue has no place on the map there.
      Longitude: or(fields.Longitude, ZERO),
      Latitude: or(fields.Latitude, ZERO),
      Telephone: or(fields.Telephone, column('msevtmgt_telephone1')),
      Description: or(fields.Description, column('msevtmgt_description')),
      Website: or(fields.Website, column('msevtmgt_website')),
      Links: fields.Links ?? null,
    },
    active: or(active, IS_ACTIVE),
  }
}

const IS_ACTIVE: Condition = [{ column: 'statecode', oneOf: [0] }]
const ZERO: FieldSetting = { kind: 'value', value: '0' }

function column(name: string): ColumnSetting {
  return { kind: 'column', column: name, whenBlank: null, label: false }
}

function or<Value>(given: Value | undefined, stock: Value): Value {
  return given === undefined ? stock : given
}
