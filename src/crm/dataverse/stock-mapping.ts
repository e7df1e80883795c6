import type { CrmSettings } from '../../config/configuration.ts'
import { type FieldSource, type ListShape, columnSource } from '../../config/crm/sources.ts'

/** One table, and how its rows are mapped. */
export interface TableSetting extends Omit<ListShape, 'updatedAt'> {
  readonly from: string
}

export const ZONE_NAME = 'msevtmgt_eventtimezonename'
/** The column of Dynamics' own time zone codes, used if the column of zone names names no zone. */
export const ZONE_CODE = 'msevtmgt_eventtimezone'

const CAPACITY = 'msevtmgt_maximumeventcapacity'
const ACTIVE = [{ column: 'statecode', oneOf: [0] }]

const wallTime = (column: string): FieldSource => ({
  ...columnSource(column),
  wallTimeIn: { kind: 'column', column: ZONE_NAME },
})

/** The events of Dynamics 365 Marketing and Customer Insights, with the configuration's changes. */
export function eventsSetting(own: CrmSettings<'dataverse'>['events']): TableSetting {
  const stock = {
    fields: {
      Id: columnSource('msevtmgt_eventid'),
      Name: columnSource('msevtmgt_name'),
      VenueId: columnSource('msevtmgt_primaryvenue'),
      TicketCapacity: columnSource(CAPACITY),
      TicketsAvailable: { kind: 'subtract', columns: [CAPACITY, 'msevtmgt_registrationcount'] },
      Start: wallTime('msevtmgt_eventstartdate'),
      Finish: wallTime('msevtmgt_eventenddate'),
      // Dynamics has prices of passes, not of events. With 0 here, search engines would be told that each event is free.
      Price: null,
      Tags: null,
      Links: null,
    },
    active: ACTIVE,
    showOnWeb: [
      { column: 'msevtmgt_publishstatus', oneOf: [100_000_003] },
      { column: 'msevtmgt_istemplate', oneOf: [100_000_002] },
    ],
  } as const
  return { ...stock, ...own, fields: { ...stock.fields, ...own.fields } }
}

export function venuesSetting(own: CrmSettings<'dataverse'>['venues']): TableSetting {
  const stock = {
    fields: {
      Id: columnSource('msevtmgt_venueid'),
      Name: columnSource('msevtmgt_name'),
      AddressStreet1: columnSource('msevtmgt_addressline1'),
      AddressStreet2: columnSource('msevtmgt_addressline2'),
      AddressStreet3: columnSource('msevtmgt_addressline3'),
      AddressCity: columnSource('msevtmgt_city'),
      AddressPostalCode: columnSource('msevtmgt_postalcode'),
      AddressState: columnSource('msevtmgt_stateprovince'),
      AddressCountry: columnSource('msevtmgt_country'),
      // Dynamics has no coordinates of venues.
      Longitude: null,
      Latitude: null,
      Telephone: columnSource('msevtmgt_telephone1'),
      Description: columnSource('msevtmgt_description'),
      Website: columnSource('msevtmgt_website'),
      Links: null,
    },
    active: ACTIVE,
    showOnWeb: null,
  }
  return { ...stock, ...own, fields: { ...stock.fields, ...own.fields } }
}
