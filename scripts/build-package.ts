/**
 * Makes the package: `npm run package [-- FOLDER]`, `dist` otherwise. It holds the `files` of package.json, the
 * JavaScript in `lib`, the description of the sample's service, and a package.json without what only a checkout needs.
 * Of the two runtimes it brings Bun: the other one is what runs npm.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import manifest from '../package.json' with { type: 'json' }
import { descriptionFiles } from './description-files.ts'

const ROOT = join(import.meta.dirname, '..')
const target = resolve(process.argv[2] ?? join(ROOT, 'dist'))

interface Packed {
  readonly filename: string
  readonly size: number
  readonly unpackedSize: number
  readonly files: readonly { readonly path: string }[]
}

const folder = mkdtempSync(join(tmpdir(), 'marquee-package-'))
try {
  for (const { path } of packed(ROOT, '--dry-run').files) {
    if (!path.startsWith('lib/')) cpSync(join(ROOT, path), join(folder, path))
  }
  for (const [path, text] of descriptionFiles()) writeFileSync(join(folder, path), text)
  for (const path of globSync('**/*.md', { cwd: folder })) keepLinks(join(folder, path))
  run(process.execPath, [join(ROOT, 'scripts/build-library.ts'), join(folder, 'lib')])
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(packageManifest(), null, 2)}\n`)
  mkdirSync(target, { recursive: true })
  const { filename, size, unpackedSize, files } = packed(folder, '--pack-destination', target)
  console.log(
    `${join(target, filename)}: ${files.length} files, ${kilobytes(size)}, ${kilobytes(unpackedSize)} unpacked`,
  )
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** Turns the links of a page to what the package leaves out into their text; pictures go. */
function keepLinks(page: string): void {
  const text = readFileSync(page, 'utf8')
  const kept = text.replaceAll(
    /(!?)\[([^\]]*)\]\((?!https?:|#)([^)#]+)(?:#[^)]*)?\)/g,
    (link, picture, shown, path) => {
      if (existsSync(join(dirname(page), String(path)))) return link
      return picture === '' ? String(shown) : ''
    },
  )
  writeFileSync(page, kept)
}

function packageManifest(): object {
  const { devDependencies: _, overrides: __, scripts: ___, optionalDependencies, ...rest } = manifest
  const runtime = Object.entries(optionalDependencies).filter(([name]) => name.startsWith('@oven/'))
  return { ...rest, optionalDependencies: Object.fromEntries(runtime) }
}

function packed(cwd: string, ...options: readonly string[]): Packed {
  const [made] = JSON.parse(run('npm', ['pack', '--json', '--ignore-scripts', ...options], cwd)) as readonly Packed[]
  if (made === undefined) throw new Error('npm packed nothing')
  return made
}

function run(program: string, args: readonly string[], cwd = ROOT): string {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8', maxBuffer: 2 ** 26 })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${status}: ${stderr}`)
  return stdout
}

function kilobytes(bytes: number): string {
  return `${Math.round(bytes / 1000)} kB`
}
