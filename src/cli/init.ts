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
  const { text, notes, next } = section
  try {
    const general = readTemplate('general.yaml')
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
  for (const line of notes) out(printable(line))
  out(`Next: ${next}run \`${commandLine(['check'], context)}\`.`)
  return FINE
}

/** The `crm` section of a configuration. */
interface Section {
  readonly text: string
  /** What to tell about it. */
  readonly notes: readonly string[]
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
  const step = NEXT_STEPS.get(kind)
  if (step === undefined) {
    const nearest = nearestName(kind, kinds)
    const hint = nearest === null ? '' : `did you mean ${nearest}? `
    return [`there is no kind of CRM called ${JSON.stringify(kind.slice(0, 80))}; ${hint}known: ${kinds.join(', ')}`]
  }
  const known = preset === undefined ? readTemplate(`${kind}.yaml`) : presetFor(kind, preset)
  if (Array.isArray(known)) return known
  if (from.length > 0) return proposedFor(kind, from, context, idNamespace)
  const text = known.replace('NAMESPACE', randomUUID())
  const next =
    preset === undefined ? step : 'set your address and lists in it, and the variable it names in auth, if any'
  return { text, notes: [], next: `${next}, then ` }
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
  return { text, notes: [...questions, ...missing], next }
}

/** The APIs for which templates/ has a complete configuration. The program itself knows nothing about them. */
export const PRESETS: readonly string[] = ['directus', 'strapi', 'airtable', 'the-events-calendar', 'marquee']

/** Returns the configuration of a known API, or the problems. */
function presetFor(kind: string, preset: string): string | string[] {
  if (kind !== 'http') return ['--preset only works with http: ./marquee init http --preset NAME']
  if (PRESETS.includes(preset)) return readTemplate(`${preset}.yaml`)
  return [`there is no preset called ${JSON.stringify(preset.slice(0, 80))}; known: ${PRESETS.join(', ')}`]
}

const ZONE_TO_SAY =
  '# timeZone: Europe/London   # IANA name: the time zone of dates without an offset, and of Start and Finish'

/** The kinds of CRM, each with the next step after writing its configuration, which is in templates/. */
const NEXT_STEPS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    files: 'put events and venues, each as .csv, .json or .ndjson, into the folder crm next to it',
    dataverse: 'set your environment and app registration in it, and the variable DATAVERSE_CLIENT_SECRET',
    postgres: 'set the tables or views in it, and the variable DATABASE_URL',
    odoo: "set the address and the database of your Odoo in it, and the variable ODOO_KEY, and replace the '?'",
    salesforce: 'set your org, its objects and their fields in it, and the variable SALESFORCE_SECRET',
    civicrm: 'set the address of your site in it, and the variable CIVICRM_KEY',
    http: 'describe your API and its lists in it, and set the variable CRM_TOKEN (or begin with ./marquee init http --preset NAME)',
    module: 'describe in our-crm.ts how to read your API, and set the variable CRM_TOKEN',
    command: 'describe in our_crm.py how to read your API (or name your own program), and set the variable CRM_TOKEN',
  } satisfies Readonly<Record<CrmSettings['kind'], string>>),
)

export const kinds: readonly string[] = [...NEXT_STEPS.keys()]
