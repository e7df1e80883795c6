// Loads the configuration: one YAML file becomes frozen settings, or a list of all its problems. In: a file and the
// environment. Out: a `Configuration`. tree.ts parses YAML with line numbers, and the keys (general.ts, crm/) read the
// tree. docs/configuration.md is generated from the keys.
import { resolve, dirname } from 'node:path'
import { type Configuration, brokenRules, KEYS, warningsOf } from './configuration.ts'
import { type Problem, type FileProblems, renderProblem, PROBLEM, keyOf, noProblems, Place } from './config-problem.ts'
import { sampleDirectory } from './sample-directory.ts'
import { type ReadFile, mayExist, readSmallFile, readingLimit, readText } from '../time/read-text.ts'
import { type MapTree, type ReportProblem, mapTreeOf, parseYaml } from './tree.ts'
import { parseGuid } from '../domain/guid.ts'
import { keyNamed, section } from './key.ts'
import { isReference, resolveReferences } from './references.ts'

export interface ReadConfiguration {
  readonly configuration: Configuration
  /** The configuration's origin, as the end of a sentence. */
  readonly from: string
}

/** The command line options that select or override the configuration. */
export interface ConfigurationOptions extends Ports {
  readonly config?: string | undefined
}

type ReadOrProblems =
  | (ReadConfiguration & { readonly ok: true; readonly warnings: readonly string[] })
  | { readonly ok: false; readonly problems: readonly string[] }

/** Finds and loads the configuration as every command does. If it is wrong, returns all problems, one sentence each. */
export async function loadFound(
  { config, port, operationsPort }: ConfigurationOptions,
  { env, cwd }: Pick<Whereabouts, 'env' | 'cwd'>,
): Promise<ReadOrProblems> {
  const found = await findConfiguration({ option: config, env, cwd, exists: mayExist })
  const problems: string[] = []
  const portIn = (name: string): number | undefined => {
    const text = env[name] || null
    const number = text === null ? undefined : portOf(text)
    if (number === null)
      problems.push(`the environment variable ${name} must be a whole number from 0 to 65535, 0 for any free port`)
    return number ?? undefined
  }
  const [listenPort, otherPort] = ['MARQUEE_LISTEN_PORT', 'MARQUEE_OPERATIONS_LISTEN_PORT'].map(portIn)
  const ports = { port: port ?? listenPort, operationsPort: operationsPort ?? otherPort }
  const { path, because } = found
  const loaded = await loadConfiguration({ path, env, readFile: readSmallFile, ports, sample: sampleDirectory() })
  if (!loaded.ok) problems.push(...loaded.problems.map((problem) => sentenceOf(problem, because)))
  if (!loaded.ok || problems.length > 0) return { ok: false, problems }
  const { configuration } = loaded
  const warnings = [...loaded.warnings]
  if (operationsPort !== undefined && configuration.operations === null)
    warnings.push('--operations-port has no effect: operations: null switches the operations listener off')
  if (path === null) return { ok: true, configuration, warnings, from: `the sample, as ${because}` }
  const file = `${path}, ${because}`
  const from = loaded.isSample ? `the sample, because ${file}, sets only where to listen` : file
  return { ok: true, configuration, warnings, from }
}

/** Parses a port, 0 to 65535, with optional blanks around it; `null` if the text is not a port. */
export function portOf(text: string): number | null {
  const number = Number(text)
  return /^\s*\d{1,5}\s*$/.test(text) && number <= 65_535 ? number : null
}

/** Loads the configuration and prints its warnings and problems; `null` if there are problems. */
export async function readConfiguration(
  options: ConfigurationOptions,
  context: Pick<Whereabouts, 'env' | 'cwd'> & { readonly error: (line: string) => void },
): Promise<ReadConfiguration | null> {
  const found = await loadFound(options, context)
  for (const line of found.ok ? found.warnings.map((warning) => `warning: ${warning}`) : found.problems) {
    context.error(line)
  }
  return found.ok ? found : null
}

/** Describes the problem. If the whole file is wrong, adds why this file was chosen. */
function sentenceOf(problem: Problem, because: string): string {
  const sentence = renderProblem(problem)
  return problem.key === '' && problem.line === null ? `${sentence} (${because})` : sentence
}

export interface Whereabouts {
  readonly option: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  /** The directory in which the process was started. */
  readonly cwd: string
  readonly exists: (path: string) => Promise<boolean>
}

/** Which configuration to read, and why; `because` completes `the configuration is …, `. `null`: the sample. */
interface FoundConfiguration {
  readonly path: string | null
  readonly because: string
}

/**
 * Finds the configuration: `--config`, else MARQUEE_CONFIG, else ./marquee.yaml if it exists, else the shipped sample.
 */
export async function findConfiguration({ option, env, cwd, exists }: Whereabouts): Promise<FoundConfiguration> {
  const stand = standOf(env, cwd)
  if (option !== undefined) return { path: resolve(stand, option), because: 'named by --config' }
  const named = env['MARQUEE_CONFIG']
  if (named) return { path: resolve(stand, named), because: 'named by MARQUEE_CONFIG' }
  for (const directory of new Set([stand, cwd])) {
    const path = resolve(directory, 'marquee.yaml')
    if (await exists(path)) return { path, because: 'found here' }
  }
  return { path: null, because: 'there is no marquee.yaml here' }
}

/**
 * The user's current directory. In Marquee's npm scripts it is INIT_CWD, because npm changes the directory. Programs
 * that other scripts start merely inherit INIT_CWD.
 */
export function standOf(env: Whereabouts['env'], cwd: string): string {
  const script = env['npm_lifecycle_event']
  const start = env['INIT_CWD']
  return start && (script === 'start' || script === 'start:node') ? start : cwd
}

/**
 * Finds the `idNamespace` in the text of a configuration, by its line if the file is not valid YAML. Returns it as YAML:
 * a UUID, or the reference to one.
 */
export function namespaceIn(text: string): string | null {
  const crm = parseYaml(text, () => {})?.entries.get('crm')
  const line = parseYaml(NAMESPACE.exec(text)?.[1] ?? '', () => {})
  const node = (crm?.kind === 'map' ? crm.entries.get('idNamespace') : undefined) ?? line?.entries.get('idNamespace')
  if (node?.kind === 'map' && isReference(node)) {
    const names = Array.from(node.entries, ([key, named]) => {
      return `${key}: ${JSON.stringify(named.kind === 'scalar' ? named.value : null)}`
    })
    return `{ ${names.join(', ')} }`
  }
  return node?.kind === 'scalar' ? parseGuid(String(node.value)) : null
}

/** The key with its value, which may be a reference on the next line. */
const NAMESPACE = /^[ \t]*(idNamespace:.*(?:\n[ \t]+(?:env|file):.*)?)/m

export interface ConfigurationSource {
  /** The path of the file; paths in the file are relative to its directory. `null` serves the sample. */
  readonly path: string | null
  /** The file's text if it is known already. */
  readonly text?: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly readFile: ReadFile
  readonly ports?: Ports
  /**
   * The directory of the sample's lists, served if the file only says where to listen; without it, such a file is
   * refused.
   */
  readonly sample?: string
}

/** Ports given on the command line or in the environment. */
interface Ports {
  readonly port?: number | undefined
  readonly operationsPort?: number | undefined
}

export type LoadedConfiguration =
  | {
      readonly ok: true
      readonly configuration: Configuration
      readonly warnings: readonly string[]
      readonly isSample: boolean
    }
  | { readonly ok: false; readonly problems: readonly Problem[] }

const MOST_PROBLEMS = 100

/** Reads and checks a configuration. Returns all problems together, sorted by line. */
export async function loadConfiguration(source: ConfigurationSource): Promise<LoadedConfiguration> {
  const { path, env, readFile } = source
  const file = path ?? 'the sample'
  const folder = dirname(resolve(file))
  const limit = readingLimit()
  const text = path === null ? '' : source.text
  const read = text === undefined ? await readText(resolve(file), readFile, limit) : { ok: true as const, text }
  // systemd separates several directories by colons.
  const stateDirectory = env['STATE_DIRECTORY']?.split(':')[0] || null
  const inFile = { ...noProblems(file, folder), stateDirectory, elsewhere: keyElsewhere }
  const report: ReportProblem = (at, message, key = []) => {
    inFile.problems.push({ file, key: keyOf(key), line: at, found: null, message })
  }
  if (!read.ok) {
    report(null, read.message)
    return { ok: false, problems: inFile.problems }
  }
  const parsed = parseYaml(read.text, report)
  if (parsed === null) return { ok: false, problems: inOrder(inFile.problems) }
  const fileTree = await resolveReferences(parsed, { folder, env, readFile, limit, report })
  const isSample = source.sample !== undefined && (path === null || saysOnlyWhereToListen(fileTree))
  const tree = isSample
    ? { ...fileTree, entries: new Map([...sampleTree(source.sample).entries, ...fileTree.entries]) }
    : fileTree
  const configuration = settingsOf(tree, inFile, source.ports)
  const { value: ca = null, line = null } = inFile.values.get('cluster.ca') ?? {}
  const trusted = typeof ca === 'string' ? await readText(ca, readFile, limit) : null
  if (trusted?.ok === false) report(line, `is ${JSON.stringify(ca)}, which ${trusted.message}`, ['cluster', 'ca'])
  if (configuration === null || inFile.problems.length > 0) return { ok: false, problems: inOrder(inFile.problems) }
  return { ok: true, configuration, isSample, warnings: warningsOf(configuration) }
}

/** The sample's keys that differ from the defaults. The installation directory must not be written to. */
function sampleTree(directory: string): MapTree {
  return mapTreeOf({ lists: true, snapshot: null, crm: { kind: 'files', directory } })
}

function keyElsewhere(name: string): string | null {
  return keyNamed(name, KEYS)
}

function saysOnlyWhereToListen({ entries }: MapTree): boolean {
  return entries.size > 0 && [...entries.keys()].every((key) => key === 'listen' || key === 'operations')
}

const ROOT = section(KEYS)

/** Reads the settings. `null` if there are problems, which are in `inFile`. */
function settingsOf(tree: MapTree, inFile: FileProblems, ports: Ports = {}): Configuration | null {
  const settings = ROOT.read(tree, new Place(inFile))
  if (settings === PROBLEM) return null
  const { crm: settle, listen, operations, ...others } = settings
  const general = {
    listen: { ...listen, port: ports.port ?? listen.port },
    operations: operations && { ...operations, port: ports.operationsPort ?? operations.port },
    ...others,
  }
  const crm = settle?.(general) ?? null
  const crmTree = tree.entries.get('crm')
  const isTimeZoneSet = tree.entries.has('timeZone') || (crmTree?.kind === 'map' && crmTree.entries.has('timeZone'))
  inFile.problems.push(...brokenRules(general, inFile))
  if (crm === null || inFile.problems.length > 0) return null
  return deepFreeze({ ...general, crm, isTimeZoneSet })
}

/** Freezes plain objects and arrays recursively, but not instances of classes such as zones and secrets. */
function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== Array.prototype) return value
  Object.freeze(value)
  for (const inner of Object.values(value)) deepFreeze(inner)
  return value
}

function inOrder(problems: readonly Problem[]): readonly Problem[] {
  const sorted = problems.toSorted((left, right) => (left.line ?? 0) - (right.line ?? 0))
  if (sorted.length <= MOST_PROBLEMS) return sorted
  const message = `has ${sorted.length - MOST_PROBLEMS} more problems`
  const more: Problem = { file: sorted[0]?.file ?? '', key: '', line: null, found: null, message }
  return [...sorted.slice(0, MOST_PROBLEMS), more]
}
