import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** What a release is made of, as the checkout says it. */
export interface Release {
  readonly version: string
  readonly tag: string
  /** The part of CHANGELOG.md about this version. */
  readonly notes: string
}

/**
 * Reads which release the checkout is, and reports everything that stands in its way. A rehearsal may come before the
 * date is in CHANGELOG.md, and before the tag.
 */
export function checkRelease(root: string, isRehearsal: boolean): Release | { readonly problems: readonly string[] } {
  const { version } = jsonOf(join(root, 'package.json'))
  const lock = jsonOf(join(root, 'package-lock.json'))
  const tag = `v${version}`
  const notes = notesOf(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), version)
  const heading = notes?.split('\n', 1)[0] ?? ''
  const isDated = /^## \S+ \(\d{4}-\d\d-\d\d\)$/.test(heading)
  const changed = git(root, ['status', '--porcelain'])
  const problems = [
    ...(/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version) ? [] : [`package.json: ${version} is not a version`]),
    ...(lock.version === version ? [] : [`package-lock.json: the version is ${lock.version}, not ${version}`]),
    ...(existsSync(join(root, 'test/releases', version))
      ? []
      : [`test/releases/${version} is missing: run ./bun scripts/release-fixtures.ts and commit it`]),
    ...(changed === '' ? [] : [`the working tree has changes:\n${changed}`]),
    ...(notes === null ? [`CHANGELOG.md: there is no part "## ${version} (DATE)"`] : []),
    ...(notes === null || isDated || isRehearsal
      ? []
      : [`CHANGELOG.md: "${heading}" has no date, such as (2036-05-09)`]),
    ...(isRehearsal || git(root, ['tag', '--list', tag]) === '' ? [] : [`the tag ${tag} is there already`]),
  ]
  return notes === null || problems.length > 0 ? { problems } : { version, tag, notes }
}

/** The heading of a version and what follows it, up to the next version; `null` if there is none. */
function notesOf(changelog: string, version: string): string | null {
  const part = changelog.split(/^(?=## )/m).find((one) => one.startsWith(`## ${version} `))
  return part === undefined ? null : part.trimEnd()
}

function jsonOf(path: string): { readonly version: string } {
  return JSON.parse(readFileSync(path, 'utf8')) as { readonly version: string }
}

function git(cwd: string, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`git ${args.join(' ')} ended with ${status}: ${stderr}`)
  return stdout.trim()
}
