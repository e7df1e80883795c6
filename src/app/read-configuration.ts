import type { Configuration } from '../config/configuration.ts'
import { type Ports, findConfiguration, loadConfiguration, loadSample } from '../config/load-configuration.ts'
import { type Problem, renderProblem } from '../config/config-problem.ts'
import { mayExist, readSmallFile } from '../config/read-text.ts'
import { sampleDirectory } from './sample-directory.ts'
import type { CommandContext } from './command-context.ts'

export interface ReadConfiguration {
  readonly configuration: Configuration
  /** Which one it is and why, as the end of a sentence. */
  readonly from: string
}

/** What a person typed about the configuration. */
export interface ConfigurationOptions extends Ports {
  /** What `--config` named. */
  readonly config?: string | undefined
}

type ReadOrProblems =
  | (ReadConfiguration & { readonly ok: true; readonly warnings: readonly string[] })
  | { readonly ok: false; readonly problems: readonly string[] }

/** The configuration every command finds alike, or all that is wrong with it, a sentence each. */
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
  const from = loaded.isSample ? `the sample, as no more than where to listen is in ${file}` : file
  return { ok: true, configuration, warnings, from }
}

/** The whole number from 0 to 65535 that a text is, blanks around it allowed; null if it is none. */
export function portOf(text: string): number | null {
  const number = Number(text)
  return /^\s*\d{1,5}\s*$/.test(text) && number <= 65_535 ? number : null
}

/** The port that a variable holds; one that is empty is as if it were not set. */
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

/** As `loadFound`, with the warnings and problems told; null where there is nothing to go on with. */
export async function readConfiguration(
  options: ConfigurationOptions,
  surroundings: CommandContext,
): Promise<ReadConfiguration | null> {
  const found = await loadFound(options, surroundings)
  for (const line of found.ok ? found.warnings.map((warning) => `warning: ${warning}`) : found.problems) {
    surroundings.error(line)
  }
  return found.ok ? found : null
}

/** Where the file as a whole is wrong, who named it is half of the answer. */
function sentenceOf(problem: Problem, because: string): string {
  const sentence = renderProblem(problem)
  return problem.key === '' && problem.line === null ? `${sentence} (${because})` : sentence
}
