// Loads the configuration: one YAML file becomes frozen settings, or a list of all its problems. In: a file and the
// environment. Out: a `Configuration`. tree.ts parses YAML with line numbers, references.ts resolves { env } and
// { file }, and the keys (general.ts, crm/) read the tree. docs/configuration.md is generated from the keys.
import { resolve } from 'node:path'
import type { Configuration } from './configuration.ts'
import { type Ports, loadConfiguration, loadSample } from './load-configuration.ts'
import { type Problem, renderProblem } from './config-problem.ts'
import { mayExist, readSmallFile } from '../time/read-text.ts'
import { sampleDirectory } from './sample-directory.ts'
import { parseYaml } from './tree.ts'
import { type Guid, parseGuid } from '../domain/guid.ts'

export interface ReadConfiguration {
  readonly configuration: Configuration
  /** The configuration's origin, as the end of a sentence. */
  readonly from: string
}

/** The command line options that select or override the configuration. */
export interface ConfigurationOptions extends Ports {
  /** The value of `--config`. */
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
  const said = { port: portIn(env, 'MARQUEE_LISTEN_PORT'), operations: portIn(env, 'MARQUEE_OPERATIONS_LISTEN_PORT') }
  const ports = { port: port ?? said.port.number, operationsPort: operationsPort ?? said.operations.number }
  const sample = sampleDirectory()
  const loaded =
    found.kind === 'sample'
      ? loadSample(sample, ports)
      : await loadConfiguration({ path: found.path, env, readFile: readSmallFile, ports, sample })
  const problems = [
    ...said.port.problems,
    ...said.operations.problems,
    ...(loaded.ok ? [] : loaded.problems.map((problem) => sentenceOf(problem, found.because))),
  ]
  if (!loaded.ok || problems.length > 0) return { ok: false, problems }
  const { configuration } = loaded
  const warnings =
    operationsPort === undefined || configuration.operations !== null
      ? loaded.warnings
      : [...loaded.warnings, '--operations-port has no effect: operations: null switches the operations listener off']
  if (found.kind === 'sample') return { ok: true, configuration, warnings, from: `the sample, as ${found.because}` }
  const file = `${found.path}, ${found.because}`
  const from = loaded.isSample ? `the sample, because ${file}, sets only where to listen` : file
  return { ok: true, configuration, warnings, from }
}

/** Parses a port, 0 to 65535, with optional blanks around it; `null` if the text is not a port. */
export function portOf(text: string): number | null {
  const number = Number(text)
  return /^\s*\d{1,5}\s*$/.test(text) && number <= 65_535 ? number : null
}

/** Returns the port in an environment variable. An empty variable counts as not set. */
function portIn(
  env: Whereabouts['env'],
  name: string,
): { readonly number: number | undefined; readonly problems: readonly string[] } {
  const text = env[name] ?? ''
  const number = text === '' ? undefined : (portOf(text) ?? undefined)
  const isWrong = text !== '' && number === undefined
  const problem = `the environment variable ${name} must be a whole number from 0 to 65535, 0 for any free port`
  return { number, problems: isWrong ? [problem] : [] }
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
  /** The argument of `--config`; undefined if it was not given. */
  readonly option: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  /** The directory in which the process was started. */
  readonly cwd: string
  readonly exists: (path: string) => Promise<boolean>
}

/** Which configuration to read, and why; `because` completes `the configuration is …, `. */
export type FoundConfiguration =
  | {
      readonly kind: 'file'
      readonly path: string
      readonly because: 'named by --config' | 'named by MARQUEE_CONFIG' | 'found here'
    }
  | { readonly kind: 'sample'; readonly because: 'there is no marquee.yaml here' }

/**
 * Finds the configuration: `--config`, else MARQUEE_CONFIG, else ./marquee.yaml if it exists, else the shipped sample.
 */
export async function findConfiguration({ option, env, cwd, exists }: Whereabouts): Promise<FoundConfiguration> {
  const stand = standOf(env, cwd)
  if (option !== undefined) return { kind: 'file', path: resolve(stand, option), because: 'named by --config' }
  const named = env['MARQUEE_CONFIG']
  if (named) return { kind: 'file', path: resolve(stand, named), because: 'named by MARQUEE_CONFIG' }
  for (const directory of new Set([stand, cwd])) {
    const path = resolve(directory, 'marquee.yaml')
    if (await exists(path)) return { kind: 'file', path, because: 'found here' }
  }
  return { kind: 'sample', because: 'there is no marquee.yaml here' }
}

/**
 * The user's current directory. npm runs its scripts in the package's directory; INIT_CWD counts only for Marquee's own
 * scripts, since others pass it on unintentionally.
 */
export function standOf(env: Whereabouts['env'], cwd: string): string {
  const script = env['npm_lifecycle_event']
  const start = env['INIT_CWD']
  return start && (script === 'start' || script === 'start:node') ? start : cwd
}

/** Finds the `idNamespace` in the text of a configuration, by its line if the file is not valid YAML. */
export function namespaceIn(text: string): Guid | null {
  const crm = parseYaml(text, () => {})?.entries.get('crm')
  const said = crm?.kind === 'map' ? crm.entries.get('idNamespace') : undefined
  const written =
    said?.kind === 'scalar' ? String(said.value) : /^\s*idNamespace:\s*["']?([-\da-f]{36})/im.exec(text)?.[1]
  return written === undefined ? null : parseGuid(written)
}
