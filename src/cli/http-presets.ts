/** Whole configurations of `crm.kind: http` for known APIs. Nothing about these APIs is hidden in the program. */
export const HTTP_PRESETS: ReadonlyMap<string, string> = new Map([
  [
    'directus',
    `  kind: http             # a Directus; docs/crm/http.md
  # testedOn: documents; how it pages and filters was measured on a Directus, 2026-11-21
  url: https://cms.example.org
  auth: { bearer: { env: DIRECTUS_TOKEN } }   # a static token of a user who may read both collections
  idNamespace: NAMESPACE   # keep this UUID: ids are derived from it
  requests: { most: 300, per: 1m }
  events:
    get: /items/events
    query: { sort: id, limit: '{size}', 'filter[id][_gt]': '{after}' }   # by key: integer ids
    rows: data
    paging: { by: key, size: 100 }            # without a limit, Directus returns only 100 rows, without an error
    updatedAt: [date_updated, date_created]   # date_updated is null until the first update
    since:
      'filter[_or][0][date_updated][_gte]': '{since}'
      'filter[_or][1][date_created][_gte]': '{since}'
    ids: { fields: 'id,date_updated,date_created' }
    byId: { 'filter[id][_in]': '{ids}' }
    active: { status: [published] }
    fields:
      Name: title
      VenueId: venue
      TicketCapacity: seats
      TicketsAvailable: { subtract: [seats, sold] }
      Start: starts
      Finish: ends
      Price: price
      Tags: tags
  venues:
    get: /items/venues
    query: { sort: id, limit: '{size}', offset: '{offset}' }   # by offset: a UUID has no _gt
    rows: data
    paging: { by: offset, size: 100 }
    fields:
      Name: name
      AddressStreet1: address.street
      AddressCity: address.city
      Longitude: location.coordinates.0
      Latitude: location.coordinates.1
`,
  ],
  [
    'strapi',
    `  kind: http             # a Strapi 5; docs/crm/http.md
  # testedOn: documents; how it pages and filters was measured on a Strapi 5.54, 2026-11-21
  url: https://cms.example.org/api
  auth: { bearer: { env: STRAPI_TOKEN } }     # an API token that may find both types
  idNamespace: NAMESPACE   # keep this UUID: ids are derived from it
  events:
    get: /events
    query:
      sort: documentId                        # id changes when an entry is published
      'pagination[pageSize]': '{size}'
      'filters[documentId][$gt]': '{after}'
      'populate[venue][fields][0]': documentId
    rows: data
    id: documentId
    paging: { by: key, from: '', size: 100 }  # Strapi returns at most 100 rows a page
    updatedAt: updatedAt
    since: { 'filters[updatedAt][$gte]': '{since}' }
    ids: { 'fields[0]': documentId, 'fields[1]': updatedAt }
    byId: { 'filters[documentId][$in][]': '{ids}' }
    fields:
      Name: title
      VenueId: venue.documentId
      TicketCapacity: seats
      TicketsAvailable: { subtract: [seats, sold] }
      Start: starts
      Finish: ends
      Price: price
  venues:
    get: /venues
    query: { sort: documentId, 'pagination[pageSize]': '{size}', 'filters[documentId][$gt]': '{after}' }
    rows: data
    id: documentId
    paging: { by: key, from: '', size: 100 }
    updatedAt: updatedAt
    since: { 'filters[updatedAt][$gte]': '{since}' }
    ids: { 'fields[0]': documentId, 'fields[1]': updatedAt }
    byId: { 'filters[documentId][$in][]': '{ids}' }
    fields:
      Name: name
      AddressStreet1: street
      AddressCity: city
`,
  ],
  [
    'airtable',
    `  kind: http             # a base of Airtable; docs/crm/http.md
  # testedOn: documents; a server that answers as documented
  url: https://api.airtable.com/v0/appXXXXXXXXXXXXXX
  auth: { bearer: { env: AIRTABLE_TOKEN } }   # a personal access token with data.records:read
  idNamespace: NAMESPACE   # keep this UUID: ids are derived from it
  requests: { most: 5, per: 1s }              # Airtable's limit for a base
  events:
    get: /Events
    query: { pageSize: '{size}', offset: '{cursor}' }
    rows: records
    paging: { by: cursor, at: offset, size: 100 }
    showOnWeb: { fields.Web: [true] }         # an unchecked box is left out
    fields:
      Name: fields.Name
      VenueId: fields.Venue.0
      TicketCapacity: fields.Seats
      TicketsAvailable: { subtract: [fields.Seats, fields.Sold] }
      Start: fields.Starts
      Finish: fields.Ends
      Price: fields.Price
      Tags: fields.Tags
  venues:
    get: /Venues
    query: { pageSize: '{size}', offset: '{cursor}' }
    rows: records
    paging: { by: cursor, at: offset, size: 100 }
    fields:
      Name: fields.Name
      AddressStreet1: fields.Street
      AddressCity: fields.City
`,
  ],
  [
    'the-events-calendar',
    `  kind: http             # The Events Calendar of a WordPress site; docs/crm/http.md
  # testedOn: documents; a server that answers as documented
  url: https://www.example.org/wp-json/tribe/events/v1
  idNamespace: NAMESPACE   # keep this UUID: ids are derived from it
  events:
    get: /events
    query:
      per_page: '{size}'
      start_date: '2000-01-01'                # without dates, the API returns only the next 24 months
      end_date: '2100-01-01'
    rows: events
    paging: { by: next, at: next_rest_url, size: 50, total: total, hostOfLinks: ignored }
    fields:
      Name: { column: title, html: true }
      VenueId: venue.id
      Start: { column: start_date, wallTimeIn: { column: timezone } }
      Finish: { column: end_date, wallTimeIn: { column: timezone } }
      Price: { column: cost_details.values.0, whenBlank: '0' }
      Tags: categories.*.name
      TicketCapacity: null                    # the API has no seats without Event Tickets
      TicketsAvailable: null
  venues:
    get: /venues
    query: { per_page: '{size}' }
    rows: venues
    paging: { by: next, at: next_rest_url, size: 50, total: total, hostOfLinks: ignored }
    fields:
      Name: { column: venue, html: true }
      AddressStreet1: address
      AddressCity: city
      AddressPostalCode: zip
      AddressCountry: country
      Telephone: phone
      Website: website
`,
  ],
])
