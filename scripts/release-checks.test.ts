import { afterEach, beforeEach, describe, expect, it } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkRelease } from './release-checks.ts'

let root = ''

function git(...args: readonly string[]): void {
  const who = [
    '-c',
    'user.name=A',
    '-c',
    'user.email=a@example.org',
    '-c',
    'commit.gpgsign=false',
    '-c',
    'tag.gpgsign=false',
  ]
  const { status, stderr } = spawnSync('git', [...who, ...args], { cwd: root, encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
}

function write(name: string, text: string): void {
  writeFileSync(join(root, name), text)
}

function problems(isRehearsal = false): readonly string[] {
  const checked = checkRelease(root, isRehearsal)
  return 'problems' in checked ? checked.problems : []
}

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'marquee-release-'))
  write('package.json', '{ "version": "1.2.0" }')
  write('package-lock.json', '{ "version": "1.2.0" }')
  write('CHANGELOG.md', '# Changelog\n\n## 1.2.0 (2036-05-09)\n\n- New.\n\n## 1.1.0 (2036-01-01)\n\n- Old.\n')
  mkdirSync(join(root, 'test/releases/1.2.0'), { recursive: true })
  write('test/releases/1.2.0/status.json', '{}')
  git('init', '--quiet')
  git('add', '.')
  git('commit', '--quiet', '--message', 'Begin')
})
afterEach(() => rmSync(root, { recursive: true }))

describe('npm run release', () => {
  it('takes a clean tree of one version with a dated part of the changelog, which becomes the notes', () => {
    expect(checkRelease(root, false)).toEqual({
      version: '1.2.0',
      tag: 'v1.2.0',
      notes: '## 1.2.0 (2036-05-09)\n\n- New.',
    })
  })

  it('refuses a tree with changes, files that Git does not know included', () => {
    write('new.ts', '')
    expect(problems()).toEqual(['the working tree has changes:\n?? new.ts'])
  })

  it('refuses a lock file of another version', () => {
    write('package-lock.json', '{ "version": "1.1.0" }')
    git('commit', '--quiet', '--all', '--message', 'Forget')
    expect(problems()).toEqual(['package-lock.json: the version is 1.1.0, not 1.2.0'])
  })

  it('refuses a changelog without the version, or without its date unless it is rehearsed', () => {
    write('CHANGELOG.md', '## 1.2.0 (not yet released)\n')
    git('commit', '--quiet', '--all', '--message', 'Wait')
    expect(problems()).toEqual(['CHANGELOG.md: "## 1.2.0 (not yet released)" has no date, such as (2036-05-09)'])
    expect(problems(true)).toEqual([])
    write('CHANGELOG.md', '## 1.1.0 (2036-01-01)\n')
    git('commit', '--quiet', '--all', '--message', 'Forget')
    expect(problems(true)).toEqual(['CHANGELOG.md: there is no part "## 1.2.0 (DATE)"'])
  })

  it('refuses a version without its fixtures', () => {
    git('rm', '--quiet', '-r', 'test')
    git('commit', '--quiet', '--message', 'Forget')
    expect(problems()).toEqual(['test/releases/1.2.0 is missing: run ./bun scripts/release-fixtures.ts and commit it'])
  })

  it('refuses a version that has its tag', () => {
    git('tag', 'v1.2.0')
    expect(problems()).toEqual(['the tag v1.2.0 is there already'])
  })

  it('tells all that is wrong together', () => {
    write('package.json', '{ "version": "next" }')
    expect(problems()).toHaveLength(5)
  })
})
