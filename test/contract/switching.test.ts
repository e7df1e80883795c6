import { afterAll, beforeAll, describe, expect, it } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../support/child.ts'
import { BOTH_RUNTIMES } from '../support/depth.ts'
import { type MarqueeProcess, serve } from '../support/marquee-process.ts'

const PAGE = readFileSync(join(ROOT, 'docs/switching.md'), 'utf8')
const ROWS = [...PAGE.matchAll(/^\| `([^`]+)` \| (?:`([^`]*)`)? ?\| (\d{3}) `([^`]+)` \|/gm)]

describe.each(BOTH_RUNTIMES)('what docs/switching.md says of each request, on %s', (runtime) => {
  const folder = mkdtempSync(join(tmpdir(), 'marquee-switching-'))
  let running: MarqueeProcess

  beforeAll(async () => {
    const configuration = join(folder, 'marquee.yaml')
    writeFileSync(configuration, 'listen: { port: 0 }\noperations: { port: 0 }\n')
    running = await serve(runtime, configuration)
  })
  afterAll(async () => {
    await running.child.stop()
    rmSync(folder, { recursive: true })
  })

  it('both tables are there', () => {
    expect(ROWS.length).toBe(16)
  })

  it.each(ROWS.map(([, path = '', accept = '*/*', status = '', type = '']) => [path, accept, status, type]))(
    '%s with Accept %s is %s %s',
    async (path, accept, status, type) => {
      const answer = await fetch(`${running.listening.address}${path.slice(1)}`, { headers: { Accept: accept } })
      const [given = ''] = (answer.headers.get('content-type') ?? '').split(';')
      expect([String(answer.status), given]).toEqual([status, type])
      await answer.arrayBuffer()
    },
  )
})
