import { afterAll, beforeAll, expect, it } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { CHROMIUM, open, openBrowser } from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'
import type { Settings } from '../support/files-directory.ts'
import { askOperations } from '../support/operations-client.ts'
import { RedisServer } from '../support/redis-server.ts'
import { describeWithRedis } from './needs-redis.ts'
import { type RealInstance, leaderOf, startInstance } from './real-instance.ts'
import { RUNTIMES } from '../support/depth.ts'

const HEADER = 'Id,Start,Finish,ShowOnWeb,Name\n'
const DESK = { width: 1280, height: 900, colorScheme: 'light' } as const

function event(number: number): string {
  const id = `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
  return `${id},2036-07-12T19:30Z,2036-07-12T23:00Z,yes,Gala\n`
}

describeWithRedis('the dashboard of an instance among several (instances: Watching it)', () => {
  let store: RedisServer
  let browser: Browser | null = null
  let folder = ''
  const instances: RealInstance[] = []

  beforeAll(async () => {
    store = await RedisServer.start()
    if (CHROMIUM !== null) browser = await openBrowser()
    folder = mkdtempSync(join(tmpdir(), 'marquee-cluster-page-'))
    mkdirSync(join(folder, 'crm'))
    writeFileSync(join(folder, 'crm', 'venues.json'), '[]')
    writeFileSync(join(folder, 'crm', 'events.csv'), HEADER + [1, 2, 3].map(event).join(''))
  })
  afterAll(async () => {
    await browser?.close()
    for (const instance of instances) await instance.end()
    await store.remove()
    rmSync(folder, { recursive: true, force: true })
  })

  async function started(
    runtime: (typeof RUNTIMES)[number],
    cluster: Settings = {},
    maxAge = '20s',
  ): Promise<RealInstance> {
    const instance = await startInstance(runtime, {
      crm: { kind: 'files', directory: join(folder, 'crm') },
      freshness: { maxAge, refreshEvery: '200ms' },
      cluster: { url: store.url, ...cluster },
    })
    instances.push(instance)
    return instance
  }

  async function page(instance: RealInstance): Promise<Page> {
    if (browser === null) throw new Error('there is no browser')
    return (await open(browser, instance.process.listening.operations ?? '', DESK)).page
  }

  it('shows that a file may be half-written as what it is, on the follower too: nothing has failed', async () => {
    // A file that stands still for half of it is no longer in doubt: far more than a browser takes to show it.
    const both = [await started('bun', {}, '4m'), await started('node', {}, '4m')]
    const leader = await leaderOf(both)
    const path = join(folder, 'crm', 'events.csv')
    for (const half of [event(4).slice(0, 50), event(5).slice(0, 60)]) {
      writeFileSync(path, HEADER + [1, 2, 3].map(event).join('') + half)
      for (const instance of both) {
        const text = await eventually(
          async () => (await askOperations(`${instance.process.listening.operations}status`))?.text ?? '',
          (status) => status.includes('may be half-written'),
        )
        expect(text).toContain('"waits":true')
        const metrics = await askOperations(`${instance.process.listening.operations}metrics`)
        expect(metrics?.text).toContain('marquee_ready 1')
      }
    }
    if (browser !== null) {
      const follower = both.find((instance) => instance !== leader) ?? leader
      const shown = await page(follower)
      const state = shown.locator('#state.warn', { hasText: 'events.csv may be half-written' })
      await state.waitFor()
      expect(await state.textContent()).toStartWith('Callers get data at most 4 min old; ')
      const note = shown.locator('#card-events .note.warn', { hasText: 'events.csv may be half-written' })
      expect(await note.textContent()).not.toContain('failed')
      expect(await shown.textContent('#cluster')).toContain('It follows ')
      await shown.context().close()
    }
    writeFileSync(path, HEADER + [1, 2, 3, 4].map(event).join(''))
    for (const instance of both.splice(0)) await instance.end()
  })

  it('is red where callers get 502, and says why; amber no more where it reads for itself', async () => {
    await store.end()
    for (const runtime of RUNTIMES) {
      const lost = await started(runtime, { readAlone: false })
      const answer = await eventually(
        () => fetch(`${lost.process.listening.address}api/events/00000000-0000-4000-8000-000000000001`),
        ({ status }) => status === 502,
      )
      expect(answer.status).toBe(502)
      const told = await eventually(
        () => lost.status(),
        (status) => (status?.cluster.lastError ?? null) !== null,
      )
      const log = await eventually(
        async () => lost.process.child.stdout,
        (text) => text.includes('"answers-stopped"'),
      )
      expect(log).toContain(
        `callers get 502 for the events: no read has confirmed them since the start; ${told?.cluster.lastError}`,
      )
      const own = await started(runtime)
      if (browser !== null) {
        const shown = await page(lost)
        await shown.locator('#state.bad', { hasText: 'Callers get 502 for events and venues: ' }).waitFor()
        expect(await shown.textContent('#state')).toContain(told?.cluster.lastError ?? 'a reason')
        expect(await shown.textContent('#card-events dd.big')).toBe('nothing')
        expect(await shown.textContent('#cluster')).toContain('It waits for data in the store')
        await shown.context().close()
        const reading = await page(own)
        await reading.locator('#state.good', { hasText: 'All is well' }).waitFor({ timeout: 40_000 })
        expect(await reading.textContent('#cluster')).toContain('It reads the CRM for itself')
        await reading.context().close()
      }
      await eventually(
        () => own.status(),
        (status) => status?.cluster.role === 'standalone',
      )
      await lost.end()
      await own.end()
    }
  })
})
