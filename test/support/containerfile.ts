import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { ROOT } from './child.ts'

interface Instruction {
  readonly name: string
  readonly text: string
}

/** The result of a container file's last stage, in a folder that takes the place of the root directory. */
export interface Unpacked {
  readonly root: string
  readonly env: Readonly<Record<string, string>>
  readonly entrypoint: readonly string[]
  readonly command: readonly string[]
  readonly healthcheck: readonly string[]
  readonly remove: () => void
}

export function instructionsOf(path: string): readonly Instruction[] {
  const lines = readFileSync(path, 'utf8').split('\n')
  return lines.flatMap((line) => {
    const [, name, text] = /^([A-Z]+) (.+)$/.exec(line.trim()) ?? []
    return name === undefined || text === undefined ? [] : [{ name, text }]
  })
}

function runShell(text: string, cwd: string): void {
  const run = spawnSync('sh', ['-ec', text], { cwd, encoding: 'utf8' })
  if (run.status !== 0) throw new Error(`${text}\n${run.stdout}${run.stderr}`)
}

/** Makes hard links in place of copies: a stage that was left is not changed any more. */
function linkFiles(source: string, target: string): void {
  const { status, stderr } = spawnSync('cp', ['-al', source, target], { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
}

/** What a command installed for a lock file, by both: container files that install the same share one installation. */
const installed = new Map<string, string>()

function installPackages(command: string, cwd: string): void {
  const key = `${command}\n${readFileSync(join(cwd, 'package-lock.json'), 'utf8')}`
  const existing = installed.get(key)
  if (existing !== undefined) return linkFiles(existing, join(cwd, 'node_modules'))
  runShell(command, cwd)
  const kept = join(mkdtempSync(join(tmpdir(), 'marquee-installed-')), 'node_modules')
  linkFiles(join(cwd, 'node_modules'), kept)
  installed.set(key, kept)
}

/**
 * Runs the steps of a container file without a builder. Every FROM is an empty folder beside this machine's programs,
 * so nothing is installed by apt-get (test/release/images.test.ts builds the images).
 */
export function runSteps(path: string): Unpacked {
  const stages = new Map<string, string>()
  let [root, workdir] = ['', '/']
  const roots: string[] = []
  const env: Record<string, string> = {}
  const said: Record<string, readonly string[]> = {}
  const inRoot = (name: string): string => join(root, resolve(workdir, name))
  for (const { name, text } of instructionsOf(path)) {
    if (name === 'FROM') {
      root = mkdtempSync(join(tmpdir(), 'marquee-image-'))
      roots.push(root)
      stages.set(/ AS (\w+)$/.exec(text)?.[1] ?? '', root)
    } else if (name === 'WORKDIR') {
      workdir = text
      mkdirSync(inRoot('.'), { recursive: true })
    } else if (name === 'COPY') {
      const words = text.split(' ')
      const from = /^--from=(\w+)$/.exec(words[0] ?? '')?.[1]
      const base = from === undefined ? ROOT : (stages.get(from) ?? '')
      const [to = '', ...sources] = words.slice(from === undefined ? 0 : 1).toReversed()
      for (const source of sources) {
        const target = to.endsWith('/') ? join(inRoot(to), basename(source)) : inRoot(to)
        if (from === undefined) cpSync(join(base, source), target, { recursive: true, verbatimSymlinks: true })
        else linkFiles(join(base, source), target)
        statSync(target)
      }
    } else if (name === 'RUN' && !text.startsWith('apt-get ')) {
      const cwd = inRoot('.')
      const [install = '', ...rest] = text.split(' && ')
      if (install.startsWith('npm ci ')) {
        installPackages(install, cwd)
        runShell(rest.join(' && '), cwd)
      } else runShell(text, cwd)
    } else if (name === 'ENV') {
      for (const [, key = '', value = ''] of text.matchAll(/(\w+)=(\S+)/g)) {
        env[key] = value.startsWith('/') ? join(root, value) : value
      }
    } else if (['ENTRYPOINT', 'CMD', 'HEALTHCHECK'].includes(name)) {
      const words = JSON.parse(text.slice(text.indexOf('['))) as string[]
      said[name] = words.map((word) => (word.startsWith('/') ? join(root, word) : word))
    }
  }
  const { ENTRYPOINT = [], CMD = [], HEALTHCHECK = [] } = said
  const remove = (): void => roots.forEach((folder) => rmSync(folder, { recursive: true }))
  return { root, env, entrypoint: ENTRYPOINT, command: CMD, healthcheck: HEALTHCHECK, remove }
}
