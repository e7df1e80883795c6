import { expect, it } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../support/child.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import {
  BAD_PRICE,
  describeDashboards,
  DESK,
  event,
  events,
  explain,
  faults,
  MARKUP,
  screenshot,
  SHOWN,
} from './dashboard-rig.ts'

describeDashboards('the dashboard in Chromium', (dashboards) => {
  it('shows what is served and withheld, and why', async () => {
    const { page, complaints } = await dashboards.opened(DESK, dashboards.small)
    expect(await page.textContent('#state.warn')).toBe(
      'Callers get data at most 10 s old; 5 events are withheld for mistakes, listed below.',
    )
    await page.waitForSelector('#withheld-rows li')
    expect(await page.textContent('#withheld-count')).toBe('5 withheld events; shown are 1 to 5.')
    const card = await page.textContent('#card-events')
    expect(card).toContain('Served3')
    expect(card).toContain('5 (a value cannot be read: 5)')
    expect(card).toContain('Price, a value cannot be read: 5')
    expect(await page.textContent('#withheld-rows li .place strong')).toBe('Event 2')
    expect(complaints).toEqual([])
    await page.context().close()
  })

  it('shows CRM text full of markup as text, in lists, explanations and bodies', async () => {
    const { page, complaints } = await dashboards.opened(DESK, dashboards.small)
    await page.waitForSelector('#withheld-rows li')
    expect(await page.textContent('#withheld-rows')).toContain(MARKUP)
    expect(await explain(page, BAD_PRICE)).toContain(MARKUP)
    expect(await explain(page, SHOWN)).toContain('is on the web')
    for (const summary of await page.$$('#explanation summary')) await summary.click()
    expect(await page.textContent('#explanation details:first-of-type pre')).toContain(MARKUP)
    await page.fill('#explain-id', MARKUP)
    await page.press('#explain-id', 'Enter')
    await page.locator('#found li', { hasText: MARKUP }).first().waitFor()
    expect(await explain(page, `${MARKUP} of nobody`)).toContain(
      `Nothing has the title or the id "${MARKUP} of nobody"`,
    )
    expect(await page.$$('main img, main script')).toEqual([])
    expect(complaints).toEqual([])
    await page.context().close()
  })

  it('leads from the count of a reason to its rows, mistakes first and then in the order of the file, 20 a page', async () => {
    const drafts = Array.from({ length: 30 }, (_, index) => event(index + 1, { ShowOnWeb: false }))
    const mistakes = [event(40, { Start: null }), event(41, { Price: 'x' })]
    const { page } = await dashboards.opened(
      DESK,
      await dashboards.started(JSON.stringify([...drafts, ...mistakes, event(50)])),
    )
    await page.locator('#withheld-count', { hasText: '32 withheld events; shown are 1 to 20.' }).waitFor()
    const places = async (): Promise<string[]> =>
      (await page.locator('#withheld-rows .place span.crm').allTextContents()).slice(0, 4)
    expect(await places()).toEqual([31, 32, 1, 2].map((row) => `events.json, item ${row} (line 1)`))
    await page.click('#card-events a:has-text("something is missing: 1")')
    await page.locator('#withheld-count', { hasText: /^1 of 32 / }).waitFor()
    expect(await places()).toEqual(['events.json, item 31 (line 1)'])
    await page.context().close()
  })

  it('asks before it accepts a shorter list, and then accepts it', async () => {
    const running = await dashboards.started(events(40, 0))
    const { page, complaints } = await dashboards.opened(DESK, running)
    running.directory.write('events', events(2, 0))
    await page.waitForSelector('#card-events button:visible')
    expect(await page.textContent('#state')).toMatch(/does not believe\. The old list is served until /)
    expect(await page.getAttribute('#state', 'class')).toBe('state bad')
    await screenshot(page, 'dashboard-shrink-guard')
    await page.focus('#card-events button')
    await page.keyboard.press('Enter')
    await page.waitForSelector('#accept[open]')
    expect(await page.textContent('#accept-text')).toContain('list of events')
    expect(await faults(page)).toEqual([])
    await page.keyboard.press('Escape')
    await page.waitForSelector('#accept:not([open])', { state: 'attached' })
    expect(await page.textContent('#card-events dd.big')).toBe('40')
    await page.click('#card-events button')
    await page.click('#accept-yes')
    await page.locator('#card-events dd.big', { hasText: /^2$/ }).waitFor()
    expect(complaints).toEqual([])
    await page.context().close()
  })

  it('asks for the token, which a browser sends as the password of Basic', async () => {
    const operations = { port: 0, token: { file: './token' } }
    const directory = new FilesDirectory({ operations }, { events: '[]', venues: '[]' })
    writeFileSync(join(directory.path, 'token'), 'open-sesame\n')
    const running = await dashboards.serve(directory)
    const address = running.listening.operations ?? ''
    const httpCredentials = { username: 'anybody', password: 'open-sesame' }
    const context = await dashboards.browser.newContext({ httpCredentials })
    const page = await context.newPage()
    await page.goto(address)
    await page.waitForSelector('#lists article')
    await context.close()
    expect((await fetch(address)).status).toBe(401)
  })
})

it('the page and its files name no other place', () => {
  const folder = join(ROOT, 'src/operations/page')
  for (const name of [
    'index.html',
    'dashboard.css',
    'dashboard.js',
    'element.js',
    'explain.js',
    'withheld.js',
    'day.js',
  ]) {
    const text = readFileSync(join(folder, name), 'utf8')
    expect(text).not.toMatch(/https?:|\bstyle=|\bon\w+=|innerHTML|insertAdjacentHTML|outerHTML|document\.write/)
  }
})
