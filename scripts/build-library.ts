/**
 * Builds the JavaScript of the package: `./bun scripts/build-library.ts [FOLDER]`, `lib` otherwise. Node strips no
 * types below node_modules. One file for each source, with its map, and what the sources read from beside them.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, globSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
const target = resolve(process.argv[2] ?? join(ROOT, 'lib'))
// Beside the target: a folder cannot be renamed to another file system.
const folder = mkdtempSync(join(dirname(target), '.library-'))

const compiler = join(ROOT, 'node_modules/typescript/bin/tsc')
const project = join(ROOT, 'scripts/tsconfig.library.json')
const { status, stdout, stderr } = spawnSync(process.execPath, [compiler, '--project', project, '--outDir', folder], {
  encoding: 'utf8',
})
if (status !== 0) {
  rmSync(folder, { recursive: true })
  throw new Error(`the compiler ended with ${status}: ${stdout}${stderr}`)
}
for (const name of globSync('**/*.{html,css,js,svg,yaml,py,txt,LICENSE,d.ts}', { cwd: join(ROOT, 'src') })) {
  cpSync(join(ROOT, 'src', name), join(folder, 'src', name))
}
rmSync(target, { recursive: true, force: true })
renameSync(join(folder, 'src'), target)
rmSync(folder, { recursive: true })
