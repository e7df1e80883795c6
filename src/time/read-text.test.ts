import { afterAll, describe, expect, it } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from '../../test/support/eventually.ts'
import { readingLimit, readSmallFile, readText } from './read-text.ts'

const folder = mkdtempSync(join(tmpdir(), 'marquee-read-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('a file of the configuration', () => {
  it('is a regular one, through links too: a pipe is not waited for, and a device not opened', async () => {
    const [pipe, link, file] = ['pipe', 'link', 'file'].map((name) => join(folder, name)) as [string, string, string]
    spawnSync('mkfifo', [pipe])
    symlinkSync(pipe, link)
    writeFileSync(file, 'text')
    for (const path of [pipe, link, '/dev/zero', '/dev/null']) {
      expect(await readText(path, readSmallFile)).toEqual({
        ok: false,
        message: 'is a pipe or a device: only regular files are read',
      })
    }
    expect(await readText(folder, readSmallFile)).toEqual({ ok: false, message: 'is a directory, not a file' })
    expect(await readText(file, readSmallFile)).toEqual({ ok: true, text: 'text' })
  })

  it('is not read once the limit of all files is over', async () => {
    const file = join(folder, 'late')
    writeFileSync(file, 'text')
    const message = 'cannot be read: no response within 10 s'
    expect(await readText(file, readSmallFile, AbortSignal.abort())).toEqual({ ok: false, message })
    expect(await readText(file, readSmallFile, readingLimit())).toEqual({ ok: true, text: 'text' })
  })

  it('is read again once a read that hung has ended', async () => {
    const file = join(folder, 'hung')
    writeFileSync(file, 'text')
    const limit = new AbortController()
    const hung = readText(file, readSmallFile, limit.signal)
    limit.abort()
    expect(await hung).toEqual({ ok: false, message: 'cannot be read: no response within 10 s' })
    await eventually(
      () => readText(file, readSmallFile),
      ({ ok }) => ok,
      2000,
    )
  })
})
