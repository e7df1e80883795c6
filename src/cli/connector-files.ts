import { readFileSync } from 'node:fs'

/** Returns the types for authors of connectors. The executable embeds them (scripts/build-executable.ts). */
export function connectorTypes(): string {
  return readFileSync(new URL('../crm/connector/marquee-connector.d.ts', import.meta.url), 'utf8')
}

/** A first connector, which `init module` writes. */
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

/** A first program, which `init command` writes. */
export const OUR_PROGRAM = `"""How Marquee reads our CRM: \`our_crm.py LIST WAY\` prints each row as a line of JSON (docs/crm/your-own.md)."""
import json, sys, time, urllib.error, urllib.parse, urllib.request

settings = json.load(sys.stdin)
list_name, way, *argument = sys.argv[1:]

def ask(path, **query):
    url = f"{settings['url']}/{path}?{urllib.parse.urlencode(query)}"
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {settings['token']}"})
    try:
        with urllib.request.urlopen(request, timeout=5) as response:
            return json.load(response, parse_float=str)  # 12.50 stays 12.50
    except urllib.error.HTTPError as error:
        if error.code == 429 and (pause := error.headers.get("Retry-After", "5")).isdigit() and int(pause) < 15:
            return time.sleep(int(pause)) or ask(path, **query)
        kind = {401: "refused", 403: "refused", 429: "throttled"}.get(error.code, "broken")
        sys.exit(print(f"#fail {kind} the API answers {error.code}"))

query = {"changed_since": argument[0]} if way == "since" else {}
page, rows, count = 1, None, 0
while rows != []:
    rows = ask(list_name, page=page, per_page=100, **query)["data"]
    for row in rows:
        print(json.dumps([row["id"], row["changed"]] if way == "ids" else row))
    page, count = page + 1, count + len(rows)
print(f"#total {count}")
`
