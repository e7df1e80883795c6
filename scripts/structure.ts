// Checks the structure of the source: files stay small, each name has one home and one meaning, and no files import
// each other in a circle.
import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

const MOST_LINES = 400

/** Two implementations of the same exports: `main` imports one of them. */
const EITHER_OR: ReadonlySet<string> = new Set(['src/runtime/bun.ts', 'src/runtime/node.ts'])

interface SourceFile {
  readonly path: string
  readonly text: string
}

const everything: readonly SourceFile[] = globSync('{src,test,scripts,bench}/**/*.ts')
  .toSorted()
  .map((path) => ({ path, text: readFileSync(path, 'utf8') }))
const files = everything.filter(({ path }) => path.startsWith('src/') && !path.endsWith('.test.ts'))

const problems = [...tooLarge(), ...files.flatMap(reExports), ...declaredTwice(), ...namedTwice(), ...circles()]
for (const problem of problems) console.error(problem)
if (problems.length > 0) process.exitCode = 1

function tooLarge(): readonly string[] {
  const sizes = files.map(({ path, text }) => ({ path, lines: text.split('\n').length - 1 }))
  console.log(`${files.length} source files, ${sizes.reduce((sum, { lines }) => sum + lines, 0)} lines`)
  return sizes
    .filter(({ lines }) => lines > MOST_LINES)
    .map(({ path, lines }) => `${path} has ${lines} lines; ${MOST_LINES} are allowed`)
}

/**
 * A re-export gives a name a second home and hides the real dependency. The linter's own rule only finds `export *`.
 */
function reExports({ path, text }: SourceFile): readonly string[] {
  const found = text.matchAll(/^export\s+(?:type\s+)?(?:\*(?:\s+as\s+\w+)?|\{[^}]*\})\s*from\b/gm)
  return Array.from(found, (match) => {
    return `${path}:${text.slice(0, match.index).split('\n').length} re-exports: import from the file that has the name`
  })
}

/** Each exported name must be unique (src/README.md, "Words"). */
function declaredTwice(): readonly string[] {
  const homes = new Map<string, string[]>()
  for (const { path, text } of files) {
    const declared = text.matchAll(/^export (?:async )?(?:const|let|function\*?|class|interface|type) (\w+)/gm)
    for (const [, name = ''] of declared) homes.set(name, [...(homes.get(name) ?? []), path])
  }
  return [...homes]
    .filter(([, paths]) => paths.length > 1 && !paths.every((path) => EITHER_OR.has(path)))
    .map(([name, paths]) => `${name} is exported by ${paths.join(' and ')}: one word stands for one thing`)
}

/** Each file name must be unique, so that a file can be found by its name. */
function namedTwice(): readonly string[] {
  const homes = Map.groupBy(files, ({ path }) => basename(path))
  return [...homes]
    .filter(([, paths]) => paths.length > 1)
    .map(([name, paths]) => `${name} stands ${paths.length} times: ${paths.map(({ path }) => path).join(' and ')}`)
}

/** Finds files that import each other, including type imports. */
function circles(): readonly string[] {
  const imports = new Map(everything.map(({ path, text }) => [path, importedBy(path, text)]))
  const done = new Set<string>()
  const found: string[] = []
  function visit(path: string, way: readonly string[]): void {
    const met = way.indexOf(path)
    if (met !== -1) found.push(`${[...way.slice(met), path].join(' -> ')} is a circle`)
    if (met !== -1 || done.has(path)) return
    for (const next of imports.get(path) ?? []) visit(next, [...way, path])
    done.add(path)
  }
  for (const { path } of everything) visit(path, [])
  return found
}

function importedBy(path: string, text: string): readonly string[] {
  return Array.from(text.matchAll(/\b(?:from|import\()\s*'(\.[^']+)'/g), ([, from = '']) => join(dirname(path), from))
}
