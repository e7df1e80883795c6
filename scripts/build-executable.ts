/**
 * Builds one executable: `npm run executable [-- FILE]`, `dist/marquee` by default; for another platform with `--target
 * bun-linux-arm64 --runtime FILE`, that platform's Bun (scripts/build-executables.ts has it). It embeds the files that
 * the source otherwise reads from its folders: the dashboard, the page for browsers, what `init` writes, and the sample CRM.
 */
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { BunPlugin } from 'bun'

const ROOT = join(import.meta.dirname, '..')
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { target: { type: 'string' }, runtime: { type: 'string' } },
})
const outfile = resolve(positionals[0] ?? join(ROOT, 'dist/marquee'))
const { target, runtime } = values
if (target !== undefined && !isTarget(target)) throw new Error(`${target} is not a target of Bun`)

/** Generates a module that contains the texts of the files in a folder, and of others. */
const reading = (folder: string, name: string, others: Record<string, string> = {}): string => `
const files = ${JSON.stringify({ ...textsIn(join(ROOT, folder), /\.(?:html|css|js|svg|yaml|py|txt)$/), ...others })}
export function ${name}(name) {
  const text = files[name]
  if (text === undefined) throw new Error(\`there is no \${name}\`)
  return text
}`

/** The module that finds the sample: it unpacks it to a temporary folder. */
const SAMPLE = `
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
const files = ${JSON.stringify(textsIn(join(ROOT, 'sample'), /\.json$/))}
export function sampleDirectory() {
  const folder = mkdtempSync(join(tmpdir(), 'marquee-sample-'))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}`

const CONNECTOR_TYPES = textsIn(join(ROOT, 'src/crm/connector'), /^marquee-connector\.d\.ts$/)

const EMBEDDED = new Map([
  [join(ROOT, 'src/cli/templates/read-template.ts'), reading('src/cli/templates', 'readTemplate', CONNECTOR_TYPES)],
  [join(ROOT, 'src/operations/page/read-page-file.ts'), reading('src/operations/page', 'readPageFile')],
  [join(ROOT, 'src/describe/page/read-part.ts'), reading('src/describe/page', 'readPart')],
  [join(ROOT, 'src/config/sample-directory.ts'), SAMPLE],
])

const replaced = new Set<string>()
const embed: BunPlugin = {
  name: 'embed',
  setup(build) {
    build.onLoad({ filter: /(?:read-page-file|read-part|sample-directory|read-template)\.ts$/ }, ({ path }) => {
      const contents = EMBEDDED.get(path)
      if (contents === undefined) throw new Error(`nothing is known of ${path}`)
      replaced.add(path)
      return { contents, loader: 'js' }
    })
  },
}

const built = await Bun.build({
  entrypoints: [join(ROOT, 'src/main.ts')],
  compile: {
    outfile,
    ...(target === undefined ? {} : { target }),
    ...(runtime === undefined ? {} : { executablePath: resolve(runtime) }),
    // What lies in the folder where it is started is not its own.
    autoloadDotenv: false,
    autoloadBunfig: false,
  },
  // Parsed at build time: start-up takes less than half as long.
  bytecode: true,
  format: 'esm',
  minify: { syntax: true, whitespace: true },
  sourcemap: 'inline',
  plugins: [embed],
})
if (!built.success || replaced.size !== EMBEDDED.size) {
  for (const log of built.logs) console.error(log.message)
  throw new Error(`${replaced.size} of ${EMBEDDED.size} modules were replaced`)
}
// It is inside as well.
rmSync(`${outfile.replace(/\.exe$/, '')}.map`, { force: true })
console.log(`built ${outfile}`)

function isTarget(name: string): name is Bun.Build.CompileTarget {
  return /^bun-(?:linux|darwin|windows)-(?:x64|arm64)(?:-musl)?$/.test(name)
}

function textsIn(folder: string, filter: RegExp): Record<string, string> {
  const names = readdirSync(folder).filter((name) => filter.test(name))
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name), 'utf8')]))
}
