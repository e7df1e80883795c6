import { dirname, resolve } from 'node:path'
import { checkConfiguration } from './check-configuration.ts'
import type { Configuration } from './configuration.ts'
import { parseYaml } from './parse-yaml.ts'
import type { Problem } from './problem.ts'
import type { ReadFile } from './read-text.ts'
import { readText } from './read-text.ts'
import { resolveReferences } from './resolve-references.ts'

export interface ConfigurationSource {
  /** The file; paths inside it are relative to its directory, and problems name it so. */
  readonly path: string
  /** Its text, where that is known already; else the file is read. */
  readonly text?: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly readFile: ReadFile
}

export type LoadedConfiguration =
  | { readonly ok: true; readonly configuration: Configuration; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly problems: readonly Problem[] }

const MOST_PROBLEMS = 100

/** Reads, resolves and checks a configuration; all that is wrong with it is told together, in the order of the lines. */
export async function loadConfiguration(source: ConfigurationSource): Promise<LoadedConfiguration> {
  const { path, env, readFile } = source
  const read =
    source.text === undefined ? await readText(resolve(path), readFile) : { ok: true as const, text: source.text }
  if (!read.ok)
    return { ok: false, problems: [{ file: path, key: '', line: null, found: null, message: read.message }] }
  const parsed = parseYaml(read.text, path)
  if (parsed.tree === null) return { ok: false, problems: inOrder(parsed.problems) }
  const { raw, problems } = await resolveReferences(parsed.tree, { file: path, path: resolve(path), env, readFile })
  const reported = [...parsed.problems, ...problems]
  const absolute = (relative: string): string => resolve(dirname(resolve(path)), relative)
  const checked = checkConfiguration({ raw, tree: parsed.tree, file: path, absolute, reported })
  return checked.ok ? checked : { ok: false, problems: inOrder(checked.problems) }
}

function inOrder(problems: readonly Problem[]): readonly Problem[] {
  const sorted = problems.toSorted((left, right) => (left.line ?? 0) - (right.line ?? 0))
  if (sorted.length <= MOST_PROBLEMS) return sorted
  const [first] = sorted
  const rest = sorted.length - MOST_PROBLEMS
  const more: Problem = {
    file: first?.file ?? '',
    key: '',
    line: null,
    found: null,
    message: `has ${rest} more problems`,
  }
  return [...sorted.slice(0, MOST_PROBLEMS), more]
}
