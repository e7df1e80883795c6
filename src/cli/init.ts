import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { isAbsolute, relative, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { CrmSettings } from '../config/configuration.ts'
import { nearestName } from '../domain/nearest-name.ts'
import { printable } from '../domain/printable.ts'
import { codeOf } from '../domain/system-error.ts'
import type { Table } from '../proposal/table.ts'
import { type CommandContext, ANSWER_IS_NO, commandLine, FINE, WRONG_USAGE } from '../app/command-context.ts'
import { readTemplate } from './templates/read-template.ts'

const FILE = 'marquee.yaml'

export interface InitOptions {
  /** The files to examine. */
  readonly from?: readonly string[]
  /** Whether to overwrite an existing file. */
  readonly replace?: boolean
  /** The name of a known API, for `http`. */
  readonly preset?: string
}

/** Writes a commented marquee.yaml for a kind of CRM. Overwrites an existing file only with `replace`. */
export async function init(kind: string, context: CommandContext, options: InitOptions = {}): Promise<number> {
  const { cwd, out, error } = context
  const path = resolve(cwd, FILE)
  const { lookAtReplaced, replaceFile } = await import('./replaced-file.ts')
  const replaced = options.replace === true ? await lookAtReplaced(path) : null
  if (typeof replaced === 'string') {
    error(printable(`${path} ${replaced}`))
    return ANSWER_IS_NO
  }
  const section = await sectionOf(kind, options, context, replaced?.idNamespace ?? null)
  if (Array.isArray(section)) {
    for (const problem of section) error(printable(problem))
    return WRONG_USAGE
  }
  const { text, said, next } = section
  try {
    const general = kind === 'files' ? GENERAL.replace(/^ {2}staleIfError:.*$/m, STALE_FILES) : GENERAL
    // The zone of the dates in examined files is still unknown.
    const isExamined = options.from !== undefined && options.from.length > 0
    const begin = isExamined ? general.replace(/^timeZone:.*$/m, ZONE_TO_SAY) : general
    const whole = `${schemaLine(cwd)}${begin}${text}`
    if (replaced === null) await writeFile(path, whole, { flag: 'wx' })
    else await replaceFile(replaced, whole)
  } catch (cause) {
    const code = codeOf(cause) ?? 'unknown reason'
    const isThere = 'already exists and was not changed; with --replace it is overwritten'
    error(printable(`${path} ${code === 'EEXIST' ? isThere : `cannot be written (${code})`}`))
    return ANSWER_IS_NO
  }
  out(printable(`Wrote ${path}.`))
  if (kind === 'module' || kind === 'command') await writeBeside(kind, context)
  for (const line of said) out(printable(line))
  out(`Next: ${next}run \`${commandLine(['check'], context)}\`.`)
  return FINE
}

/** The `crm` section of a configuration. */
interface Section {
  readonly text: string
  /** What to tell about it. */
  readonly said: readonly string[]
  /** What to do before running `check`; may be empty. */
  readonly next: string
}

/** Returns the section, or why there is none. */
async function sectionOf(
  kind: string,
  { from = [], preset }: InitOptions,
  context: CommandContext,
  idNamespace: string | null,
): Promise<Section | string[]> {
  const template = TEMPLATES.get(kind)
  if (template === undefined) {
    const nearest = nearestName(kind, kinds)
    const hint = nearest === null ? '' : `did you mean ${nearest}? `
    return [`there is no kind of CRM called ${JSON.stringify(kind.slice(0, 80))}; ${hint}known: ${kinds.join(', ')}`]
  }
  const known = preset === undefined ? template[0] : presetFor(kind, preset)
  if (Array.isArray(known)) return known
  if (from.length > 0) return proposedFor(kind, from, context, idNamespace)
  const text = known.replace('NAMESPACE', randomUUID())
  const step =
    preset === undefined ? template[1] : 'set your address and lists in it, and the variable it names in auth, if any'
  return { text, said: [], next: `${step}, then ` }
}

/** Writes the files that a connector of one's own begins with, unless they exist. */
async function writeBeside(kind: 'module' | 'command', { cwd, out }: CommandContext): Promise<void> {
  for (const source of kind === 'module' ? ['our-crm.ts.txt', 'marquee-connector.d.ts'] : ['our_crm.py']) {
    const path = resolve(cwd, source.replace(/\.txt$/, ''))
    const isThere = await writeFile(path, readTemplate(source), { flag: 'wx', mode: 0o644 }).then(
      () => false,
      () => true,
    )
    out(printable(isThere ? `${path} was not changed.` : `Wrote ${path}.`))
  }
}

/** Returns the line that names the schema for editors. Empty in the executable, which has no files beside it. */
function schemaLine(folder: string): string {
  const path = fileURLToPath(new URL('../../docs/marquee.schema.json', import.meta.url))
  if (!existsSync(path)) return ''
  const inside = relative(folder, path)
  const isInside = !inside.startsWith('..') && !isAbsolute(inside)
  // Editors read the path up to the first blank, so a path with blanks is written as a URL.
  const named = /\s/.test(path) ? pathToFileURL(path).href : isInside ? `./${inside}` : path
  return `# yaml-language-server: $schema=${named.replaceAll('\\', '/')}\n`
}

/** Proposes how to read the files, or explains why they cannot be examined. */
async function proposedFor(
  kind: string,
  from: readonly string[],
  { cwd, env }: Pick<CommandContext, 'cwd' | 'env'>,
  idNamespace: string | null,
): Promise<Section | string[]> {
  if (kind !== 'files') return [`--from only works with files: ./marquee init files --from FILE`]
  if (from.length > 2) return ['--from takes a file of events and a file of venues']
  const [{ lookAt }, { writeProposal }] = await Promise.all([
    import('../proposal/table.ts'),
    import('../proposal/write-proposal.ts'),
  ])
  const tables: Table[] = []
  const problems: string[] = []
  for (const file of from) {
    const isUrl = /^https?:\/\//i.test(file)
    const looked = isUrl
      ? await (await import('./look-at-url.ts')).lookAtUrl(file, env)
      : await lookAt(resolve(cwd, file))
    if (typeof looked !== 'string') tables.push(...looked)
    else problems.push(isUrl ? looked : `${file} ${looked}`)
  }
  if (problems.length > 0) return problems
  const { text, questions, missing } = writeProposal(tables, { cwd, idNamespace })
  const next = questions.length === 0 ? '' : `replace each '?' in ${FILE}, then `
  return { text, said: [...questions, ...missing], next }
}

/** The known APIs of `http`, whose whole configurations are in templates/. Nothing about them is hidden in the program. */
export const PRESETS: readonly string[] = ['directus', 'strapi', 'airtable', 'the-events-calendar']

/** Returns the configuration of a known API, or the problems. */
function presetFor(kind: string, preset: string): string | string[] {
  if (kind !== 'http') return ['--preset only works with http: ./marquee init http --preset NAME']
  if (PRESETS.includes(preset)) return readTemplate(`${preset}.yaml`)
  return [`there is no preset called ${JSON.stringify(preset.slice(0, 80))}; known: ${PRESETS.join(', ')}`]
}

const GENERAL = `# Marquee's configuration. Every key has a default, except those of crm; docs/configuration.md lists all keys.
# \`./marquee check\` reads this file and the CRM, and reports what would be served.
# Any value may be { env: NAME } or { file: PATH }; secrets must be. Relative paths are relative to this file.

listen:
  host: 127.0.0.1        # 0.0.0.0 to be reached from other machines
  port: 8080
  # basePath: /whats-on  # if Marquee answers only below this path of a site

timeZone: UTC            # IANA name, such as Europe/London: the time zone of Start and Finish

freshness:
  maxAge: 30s            # no answer is older than this
  staleIfError: 0s       # how long to answer past maxAge while the CRM cannot be read, such as 12h; 0s answers 502

lists: on                # /api/events and /api/venues list all records; off: only single records, by id

# operations:            # health, metrics and the dashboard, on http://127.0.0.1:8081/
#   host: 0.0.0.0        # to be reached from other machines; requires a token
#   token: { env: MARQUEE_OPERATIONS_TOKEN }

crm:
`

const STALE_FILES =
  '  staleIfError: 12h      # how long to answer past maxAge while the files cannot be read; 0s answers 502'

const ZONE_TO_SAY =
  '# timeZone: Europe/London   # IANA name: the time zone of dates without an offset, and of Start and Finish'

const FILES = `  kind: files
  directory: ./crm       # contains events and venues, each as .csv, .json or .ndjson; docs/publishing-from-files.md
  # timeZone: Europe/London   # of dates without an offset; default: the timeZone above
  # For files with other columns: ./marquee init files --from FILE; docs/files-as-exported.md
  # For files on a web server, such as a published spreadsheet: ./marquee init files --from URL; docs/files-by-url.md
`

const DATAVERSE = `  kind: dataverse   # testedOn: documents; a simulated Dataverse that answers as Microsoft documents it
  url: https://example.crm11.dynamics.com            # the environment
  tenant: 00000000-0000-0000-0000-000000000000       # Directory (tenant) ID of the app registration
  clientId: 11111111-1111-1111-1111-111111111111     # its Application (client) ID; see docs/crm/dataverse.md
  clientSecret: { env: DATAVERSE_CLIENT_SECRET }     # or { file: PATH }, which is read again when the secret is refused
  # labels: 1033                                     # the language (LCID) of labels
  # proxy: http://proxy.example:3128                 # default: HTTPS_PROXY and NO_PROXY
  # ca: ./private-ca.pem                             # additional certificates to trust
  # availability: { every: 2s }                      # if registrations do not change the event's row
  # The stock schema of events and venues is mapped. The keys below override it, field by field:
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

const POSTGRES = `  kind: postgres   # testedOn: real; PostgreSQL 15
  url: { env: DATABASE_URL }   # postgres://user:password@host:5432/database?sslmode=verify-full
  # listen: marquee            # the NOTIFY channel for changes
  events:
    from: public_events        # a table or view, or schema.name; a view is best
    updatedAt: updated_at      # changes whenever a row does; null: every refresh is a full read
  venues:
    from: public_venues
    updatedAt: updated_at
`

const ODOO = `  kind: odoo   # testedOn: recorded; answers of an Odoo 19 with demo data, replayed. For 17 and 18: documents
  url: https://example.odoo.com
  database: example
  key: { env: ODOO_KEY }       # an API key; or { file: PATH }, which is read again when Odoo refuses it
  # version: 18                # of Odoo; 19 by default
  # user: admin                # the login of the key's user; for 17 and 18
  idNamespace: NAMESPACE   # keep this UUID: ids are derived from it
  venues:
    where: '?'                 # which partners are venues? For example [[category_id.name, '=', 'Venue']]
  # Odoo's own fields are mapped; docs/crm/odoo.md. The keys below override them, field by field:
  # events:
  #   fields:
  #     Price: x_studio_price
`

const SALESFORCE = `  kind: salesforce   # testedOn: documents; a server that answers as documented
  url: https://example.my.salesforce.com   # the org's own domain
  clientId: 3MVG9example                   # consumer key of a connected app with the client credentials flow
  clientSecret: { env: SALESFORCE_SECRET }
  idNamespace: NAMESPACE               # keep this UUID: ids are derived from it
  events:
    from: Event__c                         # your object, and its field for each of Marquee's; docs/crm/salesforce.md
    fields:
      VenueId: Venue__c
      Start: Starts__c
      Finish: Ends__c
      TicketCapacity: Seats__c
      TicketsAvailable: SeatsLeft__c
      Price: Price__c
    showOnWeb: { OnWeb__c: [true] }
  venues:
    from: Venue__c
    fields:
      AddressCity: City__c
`

const CIVICRM = `  kind: civicrm   # testedOn: documents; a server that answers as documented
  url: https://example.org
  key: { env: CIVICRM_KEY }     # the API key of a contact; docs/crm/civicrm.md
  idNamespace: NAMESPACE    # keep this UUID: ids are derived from it
  # timeZone: Europe/London     # of the site's dates; default: the timeZone above
`

const HTTP = `  kind: http               # two lists of a JSON API; docs/crm/http.md
  url: https://crm.example.org/api
  auth: { bearer: { env: CRM_TOKEN } }    # or header, basic, query, clientCredentials
  # idNamespace: 6f1f3c0e-5f0e-4c57-8a55-0d6c1c0a7e11   # a UUID of your own, for ids that are not UUIDs
  # requests: { most: 300, per: 1m }
  events:
    get: /events
    query: { page: '{page}', per_page: '{size}' }
    rows: data                            # where the list of rows is in an answer
    paging: { by: page, size: 100 }       # none, key, offset, page, next, link or cursor
    # updatedAt: updated_at               # the time of a row's last change
    # since: { updated_since: '{since}' } # reads only changes
    fields:
      Name: title
      VenueId: venue.id
      Start: starts_at
      Finish: ends_at
      TicketCapacity: seats
      TicketsAvailable: seats_left
      Price: price
  venues:
    get: /venues
    query: { page: '{page}', per_page: '{size}' }
    rows: data
    paging: { by: page, size: 100 }
    fields:
      Name: name
      AddressCity: address.city
`

const MODULE = `  kind: module             # a connector of your own; docs/crm/your-own.md
  path: ./our-crm.ts       # runs in a process of its own
  settings:                # the settings that our-crm.ts declares
    url: https://crm.example.org/api
    token: { env: CRM_TOKEN }   # or { file: PATH }, which is read again when the CRM refuses it
  # idNamespace: 6f1f3c0e-5f0e-4c57-8a55-0d6c1c0a7e11   # a UUID of your own, for ids that are not UUIDs
  # requestTimeout: 10s
  # memory: 512MB          # Marquee ends the process above this
`

const COMMAND = `  kind: command            # a program of your own, in any language; docs/crm/your-own.md
  run: [python3, our_crm.py]
  settings:                # sent to the program's standard input, as a line of JSON
    url: https://crm.example.org/api
    token: { env: CRM_TOKEN }   # or { file: PATH }, which is read again when the CRM refuses it
  # idNamespace: 6f1f3c0e-5f0e-4c57-8a55-0d6c1c0a7e11   # a UUID of your own, for ids that are not UUIDs
  events:
    # ways: [full, since, ids]   # the ways in which the program can read the list; since needs updatedAt
    # updatedAt: changed
    fields: { Id: id, Name: title, VenueId: venue.id, Start: starts_at, Finish: ends_at, TicketCapacity: seats,
              TicketsAvailable: { subtract: [seats, sold] }, Price: price, Tags: tags }
    # showOnWeb: { status: [published] }
  venues:
    fields: { Id: id, Name: name, AddressCity: address.city }
`

/** The commented configuration of each kind of CRM, and the next step after writing it. */
const TEMPLATES: ReadonlyMap<string, readonly [crm: string, next: string]> = new Map(
  Object.entries({
    files: [FILES, 'put events and venues, each as .csv, .json or .ndjson, into the folder crm next to it'],
    dataverse: [DATAVERSE, 'set your environment and app registration in it, and the variable DATAVERSE_CLIENT_SECRET'],
    postgres: [POSTGRES, 'set the tables or views in it, and the variable DATABASE_URL'],
    odoo: [ODOO, "set the address and the database of your Odoo in it, and the variable ODOO_KEY, and replace the '?'"],
    salesforce: [SALESFORCE, 'set your org, its objects and their fields in it, and the variable SALESFORCE_SECRET'],
    civicrm: [CIVICRM, 'set the address of your site in it, and the variable CIVICRM_KEY'],
    http: [
      HTTP,
      'describe your API and its lists in it, and set the variable CRM_TOKEN (or begin with ./marquee init http --preset NAME)',
    ],
    module: [MODULE, 'describe in our-crm.ts how to read your API, and set the variable CRM_TOKEN'],
    command: [
      COMMAND,
      'describe in our_crm.py how to read your API (or name your own program), and set the variable CRM_TOKEN',
    ],
  } satisfies Readonly<Record<CrmSettings['kind'], readonly [crm: string, next: string]>>),
)

export const kinds: readonly string[] = [...TEMPLATES.keys()]
