import { afterAll, describe, expect, it } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const folder = mkdtempSync(join(tmpdir(), 'marquee-npm-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Runs the script with a registry that answers as the lines of a shell say. */
function warnedBy(npm: string): { readonly status: number | null; readonly stdout: string; readonly stderr: string } {
  const file = join(folder, 'npm')
  writeFileSync(file, `#!/bin/sh\n${npm}\n`)
  chmodSync(file, 0o755)
  const env = { ...process.env, PATH: `${folder}:${process.env['PATH'] ?? ''}` }
  const script = join(import.meta.dirname, 'newer-zone-data.ts')
  return spawnSync(process.execPath, [script], { env, encoding: 'utf8' })
}

describe('npm run check', () => {
  it('warns of a newer package of the time zone database, and says how to install it', () => {
    const { status, stderr } = warnedBy('echo 99.0.0')
    expect(status).toBe(0)
    expect(stderr).toMatch(
      /^warning: moment-timezone 99\.0\.0 is published, .* than 20\d\d[a-z]: npm install --save-exact/,
    )
  })

  it.each([
    ['the installed package is the newest', 'echo 0.0.1'],
    ['there is no network', 'echo "npm error network" >&2; exit 1'],
    ['the registry answers strangely', 'echo "<html>"'],
  ])('is silent if %s', (_, npm) => {
    expect(warnedBy(npm)).toMatchObject({ status: 0, stdout: '', stderr: '' })
  })
})
