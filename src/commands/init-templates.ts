const GENERAL = `# Marquee's configuration. Every key but those of crm has a default; docs/configuration.md lists them all.
# \`marquee check\` reads this file and the CRM, and tells what would be served.
# Any value may be { env: NAME } or { file: PATH }; secrets must be. Relative paths are relative to this file.

listen:
  host: 127.0.0.1        # 0.0.0.0 to be reached from other machines
  port: 8080
  # basePath: /whats-on  # where a proxy in front passes on only a part of a site

timeZone: UTC            # IANA name, such as Europe/London: what Start and Finish are shown in

freshness:
  bound: 30s             # no answer is older than this
  staleIfError: 0s       # while the CRM cannot be read: 0s answers 502, 12h goes on answering for so long

# operations:            # health, metrics and the dashboard, on http://127.0.0.1:8081/
#   host: 0.0.0.0        # to be reached from other machines; then a token is needed
#   token: { env: MARQUEE_OPERATIONS_TOKEN }

crm:
`

const FILES = `  kind: files
  directory: ./crm       # holds events and venues, each as .csv, .json or .ndjson; docs/publishing-from-files.md
  # timeZone: Europe/London   # of dates without an offset; default: the timeZone above
`

const DATAVERSE = `  kind: dataverse
  url: https://example.crm11.dynamics.com            # the environment
  tenant: 00000000-0000-0000-0000-000000000000       # Directory (tenant) ID of the app registration
  clientId: 11111111-1111-1111-1111-111111111111     # its Application (client) ID; see docs/crm/dataverse.md
  clientSecret: { env: DATAVERSE_CLIENT_SECRET }     # or { file: PATH }, which is read again when the secret is refused
  # labels: 1033                                     # the language (LCID) of labels
  # proxy: http://proxy.example:3128                 # default: what HTTPS_PROXY and NO_PROXY say
  # ca: ./private-ca.pem                             # further certificates to trust
  # availability: { every: 2s }                      # where registrations do not touch the event's row
  # The stock schema of events and venues is mapped. What is named here overrides it, field by field:
  # events:
  #   from: msevtmgt_events
  #   fields:
  #     Price: cr5_price
  #     Tags: { column: cr5_tags, label: true }
  #   showOnWeb: { msevtmgt_publishstatus: [100000003], msevtmgt_istemplate: [100000002] }
  # venues:
  #   fields:
  #     Latitude: cr5_latitude
  #     Longitude: cr5_longitude
`

const POSTGRES = `  kind: postgres
  url: { env: DATABASE_URL }   # postgres://user:password@host:5432/database?sslmode=verify-full
  # listen: marquee            # the NOTIFY channel that says: read now
  events:
    from: public_events        # a table or view, or schema.name; a view is best
    changedAt: changed_at      # moves whenever a row changes; null: every refresh is a full read
  venues:
    from: public_venues
    changedAt: changed_at
`

/** The commented configuration of each kind of CRM. */
export const TEMPLATES: ReadonlyMap<string, string> = new Map([
  ['files', `${GENERAL}${FILES}`],
  ['dataverse', `${GENERAL}${DATAVERSE}`],
  ['postgres', `${GENERAL}${POSTGRES}`],
])

export const kinds: readonly string[] = [...TEMPLATES.keys()]
