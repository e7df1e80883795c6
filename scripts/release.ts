/**
 * Makes a release in a folder, and stops at the first thing that is wrong: `npm run release [-- FOLDER]`,
 * `dist/release` by default. It publishes nothing, and names the commands that would. `--rehearsal` takes a version
 * without a date; with it, `--without STEP` leaves out a step, and the summary says so.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import manifest from '../package.json' with { type: 'json' }
import { writeChecksums } from './checksums.ts'
import { checkRelease } from './release-checks.ts'

const ROOT = join(import.meta.dirname, '..')
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rehearsal: { type: 'boolean', default: false }, without: { type: 'string', multiple: true, default: [] } },
})
const folder = resolve(positionals[0] ?? join(ROOT, 'dist/release'))
const without = new Set(values.without)

const release = checkRelease(ROOT, values.rehearsal)
if ('problems' in release) fail(release.problems)
if (without.size > 0 && !values.rehearsal) fail(['--without is for a rehearsal'])
if (existsSync(folder) && readdirSync(folder).length > 0) fail([`${folder} is not empty`])
mkdirSync(folder, { recursive: true })
const { version, tag, notes } = release

const STEPS: Readonly<Record<string, readonly string[]>> = {
  check: ['npm', 'run', '--silent', 'check'],
  'test:all': ['npm', 'run', '--silent', 'test:all'],
  'test:release': ['npm', 'run', '--silent', 'test:release'],
  package: [process.execPath, 'scripts/build-package.ts', folder],
  executables: [process.execPath, 'scripts/build-executables.ts', folder],
  sbom: [process.execPath, 'scripts/sbom.ts', join(folder, `${baseName()}.cdx.json`)],
}
const unknown = [...without].filter((name) => !(name in STEPS))
if (unknown.length > 0) fail([`${unknown.join(', ')}: the steps are ${Object.keys(STEPS).join(', ')}`])

for (const [name, [program = '', ...args]] of Object.entries(STEPS)) {
  if (without.has(name)) {
    console.log(`left out  ${name}`)
    continue
  }
  const begun = performance.now()
  const { status } = spawnSync(program, args, { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] })
  const seconds = Math.round((performance.now() - begun) / 1000)
  if (status !== 0) fail([`${name} ended with ${status} after ${seconds} s`])
  console.log(`done      ${name}, ${seconds} s`)
}
writeFileSync(join(folder, 'NOTES.md'), `${notes}\n`)
writeChecksums(folder)

console.log(`\nMarquee ${version} is in ${folder}:\n${readFileSync(join(folder, 'SHA256SUMS'), 'utf8')}`)
if (values.rehearsal) console.log('This was a rehearsal: publish nothing of it.')
else {
  const commands = [
    `git tag --annotate ${tag} --message 'Marquee ${version}' && git push origin ${tag}`,
    `npm publish ${join(folder, `${baseName()}.tgz`)}`,
  ]
  console.log(`To publish it:\n${commands.map((command) => `  ${command}\n`).join('')}`)
}

/** What npm calls the package's file: a scope becomes the beginning of the name. */
function baseName(): string {
  return `${manifest.name.replace('@', '').replace('/', '-')}-${manifest.version}`
}

function fail(problems: readonly string[]): never {
  for (const problem of problems) console.error(problem)
  process.exit(1)
}
