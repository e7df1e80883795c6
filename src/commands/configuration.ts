import type { Configuration } from '../config/configuration.ts'
import { findConfiguration, loadConfiguration, sampleConfiguration } from '../config/load-configuration.ts'
import { type Problem, renderProblem } from '../config/problem.ts'
import { mayExist, readSmallFile } from '../config/read-text.ts'
import { sampleDirectory } from './sample-directory.ts'
import type { Surroundings } from './surroundings.ts'

export interface ReadConfiguration {
  readonly configuration: Configuration
  /** Which one it is and why, as the end of a sentence. */
  readonly from: string
}

type ReadOrProblems =
  | (ReadConfiguration & { readonly ok: true; readonly warnings: readonly string[] })
  | { readonly ok: false; readonly problems: readonly string[] }

/** The configuration every command finds alike, or all that is wrong with it, a sentence each. */
export async function loadFound(
  option: string | undefined,
  { env, cwd }: Pick<Surroundings, 'env' | 'cwd'>,
): Promise<ReadOrProblems> {
  const found = await findConfiguration({ option, env, cwd, exists: mayExist })
  if (found.kind === 'sample') {
    const from = `the sample, as ${found.because}`
    return { ok: true, configuration: sampleConfiguration(sampleDirectory()), from, warnings: [] }
  }
  const loaded = await loadConfiguration({ path: found.path, env, readFile: readSmallFile })
  if (loaded.ok) return { ...loaded, from: `${found.path}, ${found.because}` }
  return { ok: false, problems: loaded.problems.map((problem) => sentenceOf(problem, found.because)) }
}

/** As `loadFound`, with the warnings and problems told; null where there is nothing to go on with. */
export async function readConfiguration(
  option: string | undefined,
  surroundings: Surroundings,
): Promise<ReadConfiguration | null> {
  const found = await loadFound(option, surroundings)
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
