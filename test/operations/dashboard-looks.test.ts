import { expect, it } from 'bun:test'
import { join } from 'node:path'
import { ROOT } from '../support/child.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import {
  DARK,
  describeDashboards,
  DESK,
  event,
  events,
  explain,
  faults,
  isWiderThanItsWindow,
  MARKUP,
  PHONE,
  screenshot,
  SHOWN,
} from './dashboard-rig.ts'

describeDashboards('the looks of the dashboard in Chromium', (dashboards) => {
  it.each([
    ['light', DESK],
    ['dark', DARK],
    ['phone', PHONE],
  ] as const)('gives axe nothing to find and scrolls in one direction only: %s', async (_, look) => {
    const { page } = await dashboards.opened(look, dashboards.small)
    await page.waitForSelector('#withheld-rows li')
    expect(await faults(page)).toEqual([])
    await explain(page, SHOWN)
    await page.click('#explanation summary')
    expect(await faults(page)).toEqual([])
    expect(await isWiderThanItsWindow(page)).toBe(false)
    await page.context().close()
  })

  it.each([
    ['light', DESK],
    ['dark', DARK],
    ['phone', PHONE],
  ] as const)('shows the sample CRM as the documentation does: %s', async (name, look) => {
    const crm = { kind: 'files', directory: join(ROOT, 'sample') }
    const directory = new FilesDirectory({ operations: { port: 0 }, crm }, null)
    const sample = await dashboards.serve(directory)
    const { page, complaints } = await dashboards.opened(look, sample)
    await page.waitForSelector('#withheld-rows li')
    const id = new URL(sample.listening.try ?? '').pathname.split('/').at(-1) ?? ''
    expect(await explain(page, id)).toContain('is on the web')
    expect(await faults(page)).toEqual([])
    expect(complaints).toEqual([])
    await screenshot(page, `dashboard-${name}`)
    await page.context().close()
  })

  it('stays as wide as its window, whatever words the CRM holds, and keeps the next row in sight where one has many faults', async () => {
    const word = 'W'.repeat(3000)
    const faulty = {
      Name: `${word}${MARKUP}`,
      Start: word,
      Finish: null,
      Price: word,
      TicketCapacity: word,
      Tags: word,
    }
    const rows = [
      event(1, faulty),
      event(2, { ...faulty, Id: word }),
      event(3, { [word]: 1, Finish: '2025-01-01T00:00Z' }),
    ]
    const { page, complaints } = await dashboards.opened(
      { ...PHONE, colorScheme: 'dark' },
      await dashboards.started(JSON.stringify(rows)),
    )
    await page.locator('#withheld-rows summary', { hasText: '4 more faults' }).first().waitFor()
    expect(await isWiderThanItsWindow(page)).toBe(false)
    const [first] = await page.locator('#withheld-rows > li').all()
    expect((await first?.boundingBox())?.height).toBeLessThan(PHONE.height * 0.6)
    await explain(page, SHOWN)
    for (const summary of await page.$$('#withheld-rows summary')) await summary.click()
    expect(await isWiderThanItsWindow(page)).toBe(false)
    expect(await faults(page)).toEqual([])
    expect(complaints).toEqual([])
    await page.context().close()
  })

  it('breaks no word of its own on a phone', async () => {
    const { page } = await dashboards.opened(PHONE, dashboards.small)
    await page.waitForSelector('#reads tr')
    const broken = await page.evaluate<
      string[]
    >(`[...document.querySelectorAll('th, td, dt, dd, h2, h3, button, label, figcaption *')]
      .flatMap((part) => [...part.childNodes])
      .filter((node) => node.nodeType === Node.TEXT_NODE)
      .flatMap((node) => [...node.data.matchAll(/[A-Za-z]+/g)].map((word) => ({ node, word })))
      .filter(({ node, word }) => {
        const range = document.createRange()
        range.setStart(node, word.index)
        range.setEnd(node, word.index + word[0].length)
        return range.getClientRects().length > 1
      })
      .map(({ word }) => word[0])`)
    expect(broken).toEqual([])
    expect(await isWiderThanItsWindow(page)).toBe(false)
    await page.context().close()
  })

  it('pages and searches 100,000 records, half of them withheld, without being felt', async () => {
    const running = await dashboards.started(events(50_000, 50_000))
    const { page, complaints } = await dashboards.opened(DESK, running)
    await page.locator('#withheld-count', { hasText: /^50,000 / }).waitFor()
    expect(await page.locator('#withheld-rows li').count()).toBe(20)
    const first = await page.textContent('#withheld-rows')
    await page.click('#withheld-next')
    await page.locator('#withheld-count', { hasText: '21 to 40' }).waitFor()
    expect(await page.textContent('#withheld-rows')).not.toBe(first)
    await page.fill('#withheld-words', '000000049999 price')
    await page.locator('#withheld-count', { hasText: /^1 of 50,000 / }).waitFor()
    expect(await page.textContent('#withheld-rows')).toContain('00000000-0000-4000-8000-000000049999')
    expect(complaints).toEqual([])
    await page.context().close()
  })
})
