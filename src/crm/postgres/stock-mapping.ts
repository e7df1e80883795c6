import type { EventsTable, VenuesTable } from '../../config/crm/postgres.ts'
import type { ColumnSetting, EventsSetting, VenuesSetting } from '../mapping/mapping-settings.ts'

/** The columns of a view made for Marquee: the contract's names in snake_case, with what the operator says instead. */
export function eventsSetting({ from, fields, active, showOnWeb }: EventsTable, has: HasColumn): EventsSetting {
  return {
    from,
    fields: {
      Id: fields.Id ?? column('id'),
      Name: or(fields.Name, column('name')),
      VenueId: or(fields.VenueId, column('venue_id')),
      TicketCapacity: or(fields.TicketCapacity, column('ticket_capacity')),
      TicketsAvailable: or(fields.TicketsAvailable, column('tickets_available')),
      Start: or(fields.Start, { ...column('start'), wallTimeIn: null }),
      Finish: or(fields.Finish, { ...column('finish'), wallTimeIn: null }),
      Price: or(fields.Price, column('price')),
      Tags: or(fields.Tags, column('tags')),
      Links: or(fields.Links, links(has)),
    },
    active: or(active, IS_ACTIVE),
    showOnWeb: or(showOnWeb, [{ column: 'show_on_web', oneOf: [true] }]),
  }
}

export function venuesSetting({ from, fields, active }: VenuesTable, has: HasColumn): VenuesSetting {
  return {
    from,
    fields: {
      Id: fields.Id ?? column('id'),
      Name: or(fields.Name, column('name')),
      AddressStreet1: or(fields.AddressStreet1, column('address_street1')),
      AddressStreet2: or(fields.AddressStreet2, column('address_street2')),
      AddressStreet3: or(fields.AddressStreet3, column('address_street3')),
      AddressCity: or(fields.AddressCity, column('address_city')),
      AddressPostalCode: or(fields.AddressPostalCode, column('address_postal_code')),
      AddressState: or(fields.AddressState, column('address_state')),
      AddressCountry: or(fields.AddressCountry, column('address_country')),
      Longitude: or(fields.Longitude, column('longitude')),
      Latitude: or(fields.Latitude, column('latitude')),
      Telephone: or(fields.Telephone, column('telephone')),
      Description: or(fields.Description, column('description')),
      Website: or(fields.Website, column('website')),
      Links: or(fields.Links, links(has)),
    },
    active: or(active, IS_ACTIVE),
  }
}

/** Whether the table has a column; only `links` may be missing from the stock ones. */
export type HasColumn = (column: string) => boolean

const IS_ACTIVE = [{ column: 'active', oneOf: [true] }]

function column(name: string): ColumnSetting {
  return { kind: 'column', column: name, whenBlank: null, label: false }
}

function links(has: HasColumn): ColumnSetting | null {
  return has('links') ? column('links') : null
}

function or<Value>(given: Value | undefined, stock: Value): Value {
  return given === undefined ? stock : given
}
