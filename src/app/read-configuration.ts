import type { Configuration } from '../config/configuration.ts'
import { type Ports, findConfiguration, loadConfiguration, loadSample } from '../config/load-configuration.ts'
import { type Problem, renderProblem } from '../config/config-problem.ts'
import { mayExist, readSmallFile } from '../config/read-text.ts'
import { sampleDirectory } from './sample-directory.ts'
import type { CommandContext } from './command-context.ts'

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
  { env, cwd }: Pick<CommandContext, 'env' | 'cwd'>,
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
  env: CommandContext['env'],
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
  context: CommandContext,
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
