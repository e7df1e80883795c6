// What keeps the house one that a person can carry: files stay small, a name has one home and one meaning, and no two files
// need each other.
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const CEILINGS = { median: 110, p90: 250, largest: 400 } as const

/** What the two runtimes offer is asked for by one name: `main` imports one of them. */
const EITHER_OR: ReadonlySet<string> = new Set(['src/runtime/bun.ts', 'src/runtime/node.ts'])

interface SourceFile {
  readonly path: string
  readonly text: string
}

const everything: readonly SourceFile[] = globSync('{src,test,scripts,bench}/**/*.ts')
  .toSorted()
  .map((path) => ({ path, text: readFileSync(path, 'utf8') }))
const files = everything.filter(({ path }) => path.startsWith('src/') && !path.endsWith('.test.ts'))

const problems = [...tooLarge(), ...files.flatMap(reExports), ...declaredTwice(), ...circles()]
for (const problem of problems) console.error(problem)
if (problems.length > 0) process.exitCode = 1

function tooLarge(): readonly string[] {
  const sizes = files.map(({ path, text }) => ({ path, lines: text.split('\n').length - 1 }))
  const sorted = sizes.map(({ lines }) => lines).toSorted((left, right) => left - right)
  // The nearest-rank percentile: always the size of a real file.
  const percentile = (share: number): number => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0
  const figures = { median: percentile(0.5), p90: percentile(0.9), largest: percentile(1) }
  const total = sorted.reduce((sum, lines) => sum + lines, 0)
  const told = Object.entries(figures).map(([name, lines]) => `${name} ${lines}`)
  console.log(`${files.length} source files, ${total} lines: ${told.join(', ')}`)
  return [
    ...sizes
      .filter(({ lines }) => lines > CEILINGS.largest)
      .map(({ path, lines }) => `${path} has ${lines} lines; ${CEILINGS.largest} are allowed`),
    ...(['median', 'p90'] as const)
      .filter((name) => figures[name] > CEILINGS[name])
      .map((name) => `the ${name} is ${figures[name]} lines; ${CEILINGS[name]} are allowed`),
  ]
}

/** A re-export gives a name a second home, and hides which file a room leans on; the linter's rule sees `export *` only. */
function reExports({ path, text }: SourceFile): readonly string[] {
  const found = text.matchAll(/^export\s+(?:type\s+)?(?:\*(?:\s+as\s+\w+)?|\{[^}]*\})\s*from\b/gm)
  return Array.from(found, (match) => {
    return `${path}:${text.slice(0, match.index).split('\n').length} re-exports: import from the file that has the name`
  })
}

/** One word, one thing (CONTRIBUTING, glossary). */
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

/** Files that import each other, be it only for types. */
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
