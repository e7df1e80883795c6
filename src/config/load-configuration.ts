import { dirname, resolve } from 'node:path'
import { NO_FURTHER } from '../domain/further.ts'
import { type Configuration, brokenRules, KEYS, warningsOf } from './configuration.ts'
import { type FileProblems, type Problem, PROBLEM, keyOf, Place } from './config-problem.ts'
import { declaredIn } from './further-keys.ts'
import { type ReadFile, readingLimit, readText } from '../time/read-text.ts'
import { resolveReferences } from './references.ts'
import { keyNamed, section } from './section.ts'
import type { MapTree, ReportProblem, Tree } from './tree.ts'

export interface ConfigurationSource {
  /** The file. Paths in it are relative to its directory. */
  readonly path: string
  /** The file's text if it is known already. */
  readonly text?: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly readFile: ReadFile
  /** Ports that override the file's. */
  readonly ports?: Ports
  /**
   * The directory of the sample's lists, served if the file only says where to listen; otherwise such a file is
   * refused.
   */
  readonly sample?: string
}

/** Ports given on the command line or in the environment. */
export interface Ports {
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
  const { path: file, env, readFile } = source
  const folder = dirname(resolve(file))
  const limit = readingLimit()
  const read =
    source.text === undefined
      ? await readText(resolve(file), readFile, limit)
      : { ok: true as const, text: source.text }
  let inFile = noProblems(file, folder, env)
  const report: ReportProblem = (line, message, path = []) => {
    inFile.problems.push({ file, key: keyOf(path), line, found: null, message })
  }
  if (!read.ok) {
    report(null, read.message)
    return { ok: false, problems: inFile.problems }
  }
  // Imported on demand: the sample needs no parser.
  const { parseYaml } = await import('./tree.ts')
  const parsed = parseYaml(read.text, report)
  if (parsed === null) return { ok: false, problems: inOrder(inFile.problems) }
  const given = await resolveReferences(parsed, { folder, env, readFile, limit, report })
  const isSample = source.sample !== undefined && saysOnlyWhereToListen(given)
  const tree = isSample ? { ...given, entries: new Map([...sampleKeys(source.sample), ...given.entries]) } : given
  inFile = { ...inFile, further: declaredIn(tree) }
  const { configuration, ca } = settingsOf(tree, inFile, source.ports)
  const trusted = ca === null ? null : await readText(ca, readFile, limit)
  if (trusted !== null && !trusted.ok) {
    const cluster = tree.entries.get('cluster')
    const said = cluster?.kind === 'map' ? cluster.entries.get('ca') : undefined
    const found = said?.kind === 'scalar' ? String(said.value) : ca
    report(said?.line ?? null, `is ${JSON.stringify(found)}, which ${trusted.message}`, ['cluster', 'ca'])
  }
  if (configuration === null || inFile.problems.length > 0) return { ok: false, problems: inOrder(inFile.problems) }
  return { ok: true, configuration, isSample, warnings: warningsOf(configuration) }
}

/** The configuration that serves the lists in a directory. @param directory an absolute path */
export function loadSample(directory: string, ports: Ports = {}): LoadedConfiguration {
  const inFile = noProblems('the sample', directory, {})
  const { configuration } = settingsOf({ kind: 'map', line: 1, entries: sampleKeys(directory) }, inFile, ports)
  if (configuration === null) return { ok: false, problems: inFile.problems.map((one) => ({ ...one, line: null })) }
  return { ok: true, configuration, isSample: true, warnings: [] }
}

const scalar = (value: string | boolean | null): Tree => ({ kind: 'scalar', line: 1, value })

/** The sample's keys that differ from the defaults. */
function sampleKeys(directory: string): ReadonlyMap<string, Tree> {
  const crm = new Map([
    ['kind', scalar('files')],
    ['directory', scalar(directory)],
  ])
  return new Map<string, Tree>([
    ['lists', scalar(true)],
    // The installation directory must not be written to.
    ['snapshot', scalar(null)],
    ['crm', { kind: 'map', line: 1, entries: crm }],
  ])
}

function saysOnlyWhereToListen({ entries }: MapTree): boolean {
  return entries.size > 0 && [...entries.keys()].every((key) => key === 'listen' || key === 'operations')
}

const ROOT = section(KEYS)

function noProblems(file: string, folder: string, env: ConfigurationSource['env']): FileProblems {
  // systemd separates several directories by colons.
  const stateDirectory = env['STATE_DIRECTORY']?.split(':')[0] || null
  return {
    file,
    folder,
    stateDirectory,
    further: NO_FURTHER,
    elsewhere: (name) => keyNamed(name, KEYS),
    problems: [],
    doubtful: new Set(),
  }
}

interface SettingsInTree {
  /** Null if there are problems, which are in `inFile`. */
  readonly configuration: Configuration | null
  /** The file of `cluster.ca`, which is read even if there are problems. */
  readonly ca: string | null
}

/** Reads the settings from a tree. */
function settingsOf(tree: MapTree, inFile: FileProblems, ports: Ports = {}): SettingsInTree {
  const settings = ROOT.read(tree, new Place(inFile))
  if (settings === PROBLEM) return { configuration: null, ca: null }
  const { crm: settle, listen, operations, ...others } = settings
  const general = {
    listen: { ...listen, port: ports.port ?? listen.port },
    operations: operations && { ...operations, port: ports.operationsPort ?? operations.port },
    ...others,
  }
  const crm = settle?.(general) ?? null
  const said = tree.entries.get('crm')
  const isTimeZoneSet = tree.entries.has('timeZone') || (said?.kind === 'map' && said.entries.has('timeZone'))
  inFile.problems.push(...brokenRules(general, tree, inFile))
  const ca = general.cluster?.ca ?? null
  if (crm === null || inFile.problems.length > 0) return { configuration: null, ca }
  return { configuration: deepFreeze({ ...general, crm, isTimeZoneSet }), ca }
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
