import { readFileSync } from 'node:fs'

/** Returns the types for authors of connectors. The executable embeds them (scripts/build-executable.ts). */
export function connectorTypes(): string {
  return readFileSync(new URL('../crm/connector/marquee-connector.d.ts', import.meta.url), 'utf8')
}

/** A first connector, which `init` writes. */
export const OUR_CRM = `// How Marquee reads our CRM. docs/crm/your-own.md explains each step; ./marquee check shows the result.
import type { Connector } from './marquee-connector.d.ts'

export default {
  api: 1,
  settings: { url: 'url', token: 'secret' },
  events: {
    full: ({ http, settings }) =>
      http.pages(\`\${settings.url}/events\`, {
        by: 'page', // or none, offset, key, next, link, cursor: as the API's documentation says
        size: 100,
        query: { page: '{page}', per_page: '{size}' },
        rows: 'data', // where the list is in the answer; leave it out if the answer is the list
        bearer: settings.token,
      }),
    fields: {
      Id: 'id',
      Name: 'title',
      VenueId: 'venue.id',
      Start: 'starts_at',
      Finish: 'ends_at',
      TicketCapacity: 'seats',
      TicketsAvailable: { subtract: ['seats', 'sold'] },
      Price: 'price',
      Tags: 'tags',
    },
    showOnWeb: { status: ['published'] },
  },
  venues: {
    full: ({ http, settings }) =>
      http.pages(\`\${settings.url}/venues\`, {
        by: 'page',
        size: 100,
        query: { page: '{page}', per_page: '{size}' },
        rows: 'data',
        bearer: settings.token,
      }),
    fields: { Id: 'id', Name: 'name', AddressCity: 'address.city' },
  },
} satisfies Connector
`
