import { afterAll, beforeAll, describe, expect, it } from 'bun:test'
import axe from 'axe-core'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { pageOf } from '../../src/describe/html.ts'
import { LISTS, EVENT, EVENT_ROW, VENUE } from '../contract/rows.ts'
import type { Look } from '../support/browser.ts'
import { CHROMIUM, open, openBrowser } from '../support/browser.ts'
import { ROOT } from '../support/child.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import type { MarqueeProcess } from '../support/marquee-process.ts'
import { serve } from '../support/marquee-process.ts'
import { INSTANCE } from '../../scripts/description-files.ts'

const DESK: Look = { width: 1280, height: 900, colorScheme: 'light' }
const MARKUP = '<img src=x onerror=alert(1)><script>alert(2)</script>'

it('the page is below 30 kB, and its policy names nothing from elsewhere (contract §5)', () => {
  const { html, policy } = pageOf({ ...INSTANCE, basePath: '/a&"<b>' })
  expect(Buffer.byteLength(html)).toBeLessThan(30_000)
  expect(html).toContain('data-base="/a&amp;&quot;&lt;b&gt;"')
  expect(html).not.toContain('{{')
  expect(html.replaceAll(/data-base="[^"]*"/g, '')).not.toMatch(/https?:\/\/(?!lanternhall\.example\.org)|src=/)
  expect(policy).toStartWith("default-src 'none'; script-src 'sha256-")
  expect(policy).not.toMatch(/https?:|\*|unsafe/)
})

describe.skipIf(CHROMIUM === null)('the page for browsers', () => {
  const lists = { ...LISTS, events: JSON.stringify([{ ...EVENT_ROW, Name: MARKUP }]) }
  const withLists = new FilesDirectory(
    {
      lists: 'on',
      feeds: { calendar: 'on', jsonLd: 'on', atom: 'on' },
      representation: { currency: 'GBP' },
      listen: { basePath: '/on' },
    },
    lists,
  )
  const without = new FilesDirectory({}, lists)
  let on: MarqueeProcess
  let off: MarqueeProcess
  let browser: Browser
  beforeAll(async () => {
    on = await serve('bun', withLists.configuration)
    off = await serve('node', without.configuration)
    browser = await openBrowser()
  })
  afterAll(async () => {
    if (process.env['MARQUEE_SCREENSHOTS'] === '1') await drawSample(browser)
    await browser.close()
    for (const { child } of [on, off]) await child.stop()
    for (const directory of [withLists, without]) directory.remove()
  })

  it('shows what is on as text, and a record of it as it came, by keyboard alone', async () => {
    const { page, complaints } = await open(browser, `${on.listening.address}on`, DESK)
    const first = page.locator('#on-events button').first()
    expect(await first.textContent()).toBe(MARKUP)
    await first.press('Enter')
    await page.waitForSelector('#answer .status')
    expect(await page.inputValue('#id')).toBe(EVENT)
    const [asked, headers, body] = await page.locator('#answer pre').allTextContents()
    expect(asked).toContain(`/on/api/events/${EVENT}'`)
    expect(headers).toContain('cache-control: public, max-age=')
    const answer = await fetch(`${on.listening.address}on/api/events/${EVENT}`)
    expect(body).toBe(await answer.text())
    expect(headers).toContain(`etag: ${answer.headers.get('etag')}`)
    expect(complaints).toEqual([])
  })

  it('asks for an id where there are no lists, and shows each kind and type, refusals too', async () => {
    const { page, complaints } = await open(browser, off.listening.address, DESK)
    expect([await page.isVisible('#on'), await page.locator('#list').count()]).toEqual([false, 0])
    expect(await page.textContent('#needs-id')).toContain('Enter an id')
    await look(page, 'venue', `{${VENUE.toUpperCase()}}`, 'application/hal+xml')
    expect(await page.locator('#answer pre').last().textContent()).toStartWith(
      '<?xml version="1.0" encoding="utf-8"?>\n',
    )
    await look(page, 'event-venue', EVENT, 'application/hal+json')
    expect(await page.locator('#answer pre').last().textContent()).toContain(`"Id":"${VENUE}"`)
    const refused = page.waitForResponse((response) => response.status() === 400)
    await look(page, 'event', "../4'2", 'text/xml')
    await refused
    await page.waitForSelector('#answer .bad')
    expect(await page.textContent('#answer .bad')).toContain('400')
    expect(await page.locator('#answer pre').first().textContent()).toEndWith("/api/events/..%2F4%272'")
    // A browser notes each refusal as an error.
    expect(complaints.filter((text) => !text.includes('400 (Bad Request)'))).toEqual([])
  })

  it('shows the parameters of each list, and sends what was filled in of the chosen one alone', async () => {
    const { page, complaints } = await open(browser, `${on.listening.address}on`, DESK)
    const shown = (): Promise<readonly string[]> => page.locator('[data-of]:visible code').allTextContents()
    expect(await shown()).toEqual(['from', 'to', 'venue', 'tag', 'available', 'limit', 'include', 'after'])
    await page.fill('#list [name=from]', '2000-01-01')
    await page.fill('#list [name=tag]', "it's & all")
    await page.fill('#list [name=limit]', '2')
    await page.selectOption('#list [name=available]', 'true')
    await page.selectOption('#list-type', 'application/hal+json')
    await page.press('#list [name=from]', 'Enter')
    await page.waitForSelector('#listed .status')
    const query = 'from=2000-01-01&tag=it%27s+%26+all&available=true&limit=2'
    const [asked, , body] = await page.locator('#listed pre').allTextContents()
    expect(asked).toEndWith(`'${on.listening.address}on/api/events?${query}'`)
    const headers = { Accept: 'application/hal+json' }
    expect(body).toBe(await (await fetch(`${on.listening.address}on/api/events?${query}`, { headers })).text())
    await page.selectOption('#listing', 'venues')
    expect(await shown()).toEqual(['limit', 'after'])
    await page.press('#list [name=limit]', 'Enter')
    await page.locator('#listed pre', { hasText: '/on/api/venues?limit=2' }).waitFor()
    await page.selectOption('#listing', 'calendar')
    expect(await shown()).toEqual(['from', 'to', 'venue', 'tag', 'available', 'limit', 'after'])
    expect(await page.isVisible('#list-type')).toBe(false)
    await page.selectOption('#list [name=available]', '')
    await page.fill('#list [name=tag]', '')
    await page.press('#list [name=limit]', 'Enter')
    await page.locator('#listed pre', { hasText: 'BEGIN:VCALENDAR' }).waitFor()
    await page.selectOption('#listing', 'atom')
    await page.press('#list [name=limit]', 'Enter')
    await page.locator('#listed pre', { hasText: '<feed xmlns=' }).waitFor()
    expect(await page.getAttribute('head link[rel=alternate]', 'href')).toBe('/on/api/events.atom')
    await look(page, 'event', EVENT, 'application/ld+json')
    expect(await page.locator('#answer pre').last().textContent()).toStartWith('{"@context":"https://schema.org"')
    expect(complaints).toEqual([])
  })

  it('says so where what is on cannot be had, and where the service is gone', async () => {
    const silent = new FilesDirectory({ lists: 'on' }, null)
    const { child, listening } = await serve('bun', silent.configuration)
    const { page } = await open(browser, listening.address, DESK)
    await page.locator('#on-said', { hasText: 'cannot be shown now' }).waitFor()
    await child.stop()
    silent.remove()
    await page.fill('#id', EVENT)
    await page.press('#id', 'Enter')
    await page.locator('#answer .bad', { hasText: 'did not answer' }).waitFor()
  })

  it.each([
    ['desk, light', DESK],
    ['desk, dark', { ...DESK, colorScheme: 'dark' }],
    ['phone, light', { ...DESK, width: 390 }],
    ['phone, dark', { ...DESK, width: 390, colorScheme: 'dark' }],
  ] as const)('gives axe nothing to find and scrolls in one direction only: %s', async (_, given) => {
    const { page } = await open(browser, `${on.listening.address}on`, given)
    await page.locator('#on-events button').first().click()
    await page.waitForSelector('#answer .status')
    await page.click('#list button')
    await page.waitForSelector('#listed .status')
    for (const summary of await page.locator('summary').all()) await summary.click()
    await page.evaluate(axe.source)
    const found = await page.evaluate<axe.AxeResults>('axe.run()')
    expect(found.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)).toEqual([])
    expect(await page.evaluate<boolean>('document.documentElement.scrollWidth > window.innerWidth')).toBe(false)
    const looks = process.env['PAGE_LOOKS']
    if (looks !== undefined)
      await page.screenshot({ path: join(looks, `page-${given.width}-${given.colorScheme}.png`), fullPage: true })
  })
})

async function look(page: Page, kind: string, id: string, type: string): Promise<void> {
  await page.selectOption('#kind', kind)
  await page.selectOption('#type', type)
  await page.fill('#id', id)
  const answered = page.waitForResponse((response) => response.url().includes('/api/'))
  await page.press('#id', 'Enter')
  const body = await (await answered).text()
  await page
    .locator('#answer pre')
    .last()
    .filter({ hasText: body.slice(-20).trim() })
    .waitFor()
}

/** Writes docs/images/page.png: the page of the sample, and the first of what is on. */
async function drawSample(browser: Browser): Promise<void> {
  const sample = (list: string): string => readFileSync(join(ROOT, 'sample', `${list}.json`), 'utf8')
  const directory = new FilesDirectory({ lists: 'on' }, { events: sample('events'), venues: sample('venues') })
  const { child, listening } = await serve('bun', directory.configuration)
  const { page } = await open(browser, listening.address, { ...DESK, width: 900 })
  await page.locator('#on-events button').nth(1).click()
  await page.waitForSelector('#answer .status')
  // The port of this run says nothing.
  await page.evaluate(
    "const asked = document.querySelector('#answer pre'); asked.textContent = asked.textContent.replace(/:[0-9]+/, ':8080')",
  )
  await page.screenshot({ path: join(ROOT, 'docs/images/page.png'), fullPage: true })
  await child.stop()
  directory.remove()
}
