import { expect, it } from 'bun:test'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { open } from '../support/browser.ts'
import {
  BAD_PRICE,
  DARK,
  describeDashboards,
  DESK,
  event,
  events,
  explain,
  faults,
  isWiderThanItsWindow,
  PHONE,
  SHOWN,
} from './dashboard-rig.ts'

describeDashboards('the dashboard in Chromium, state by state', (dashboards) => {
  it('leads from a column to its rows, and finds by its name what is withheld', async () => {
    const rows = [
      event(1),
      event(2, { Start: null, Price: 'x' }),
      event(3, { Price: 'x', Name: 'Gala' }),
      event(4, { Id: null }),
    ]
    const { page } = await dashboards.opened(DESK, await dashboards.started(JSON.stringify(rows)))
    await page.click('#card-events a:has-text("Start, something is missing")')
    await page.locator('#withheld-count', { hasText: /^1 of 3 / }).waitFor()
    await page.click('#withheld-rows summary')
    expect(await page.textContent('#withheld-rows li li')).toContain('It has a value in Price that cannot be read')
    await page.click('#withheld-any')
    await page.locator('#withheld-count', { hasText: /^1 of 3 / }).waitFor()
    expect(await page.isVisible('#withheld-column')).toBe(false)
    await page.fill('#explain-id', 'gala')
    await page.press('#explain-id', 'Enter')
    await page.click('#found a:has-text("Gala")')
    await page.locator('#explanation h3', { hasText: 'is not on the web' }).waitFor()
    await page.fill('#explain-id', 'event 4')
    await page.press('#explain-id', 'Enter')
    const place = '(events.json, item 4 (line 1))'
    await page.locator('#found li', { hasText: `Event 4 event ${place}, not on the web: it has no valid id` }).waitFor()
    expect(await faults(page)).toEqual([])
    await page.context().close()
  })

  it('shows each webhook, and at the top why one fails, without the secret in its URL', async () => {
    const webhooks = [{ url: 'http://127.0.0.1:9/private?private', body: 'empty' }]
    const running = await dashboards.started(JSON.stringify([event(1)]), { feeds: { changes: 'on' }, webhooks })
    const { page } = await dashboards.opened(DESK, running)
    const why = '127.0.0.1:9 refused the connection (ECONNREFUSED)'
    await page.locator('#state', { hasText: `webhooks[0] at http://127.0.0.1:9 fails: ${why}.` }).waitFor()
    const row = page.locator('#webhooks-rows li', { hasText: 'no call since the start; failing since' })
    expect(await row.textContent()).toEndWith(`: ${why}.`)
    expect(await page.content()).not.toContain('private')
    expect(await faults(page)).toEqual([])
    await page.context().close()
  })

  it('tells hits of one title apart by date and venue, and says nothing of the title as an id', async () => {
    const hall = { Id: '00000000-0000-4000-9000-000000000001', Name: 'Hall' }
    const times = { Start: '2036-07-11T19:30:00Z', VenueId: hall.Id }
    const rows = [event(1, { Name: 'Tosca', ...times }), event(2, { Name: 'Tosca', VenueId: hall.Id })]
    const running = await dashboards.started(JSON.stringify(rows))
    running.directory.write('venues', JSON.stringify([hall]))
    const { page } = await dashboards.opened(DESK, running)
    await page.locator('#card-venues dd.big', { hasText: /^1$/ }).waitFor()
    await page.fill('#explain-id', 'tosca')
    await page.press('#explain-id', 'Enter')
    await page.locator('#found-count', { hasText: '2 by that name:' }).waitFor()
    const hits = await page.locator('#found li').allTextContents()
    expect(hits.map((hit) => /^.*Hall/.exec(hit)?.[0] ?? hit).toSorted()).toEqual([
      'Tosca event, 2036-07-11 19:30, Hall',
      'Tosca event, 2036-07-12 19:30, Hall',
    ])
    expect(await page.textContent('#explanation')).toBe('')
    expect(await explain(page, 'toska')).toContain('Nothing has the title or the id "toska"')
    expect(await page.textContent('#found-count')).toBe('')
    expect(await faults(page)).toEqual([])
    await page.context().close()
  })

  it('shows an event and a venue that have the same id of the CRM, one below the other', async () => {
    const crm = { kind: 'files', directory: './crm', idNamespace: '6f1f3c0e-5f0e-4c57-8a55-0d6c1c0a7e11' }
    const running = await dashboards.started(JSON.stringify([event(1, { Id: '7' })]), { crm })
    running.directory.write('venues', JSON.stringify([{ Id: 7, Name: 'Hall' }]))
    const { page } = await dashboards.opened(DESK, running)
    await page.locator('#card-venues dd.big', { hasText: /^1$/ }).waitFor()
    await explain(page, '7')
    const titles = await page.locator('#explanation h3').allTextContents()
    expect(titles.map((title) => /^The \w+/.exec(title)?.[0])).toEqual(['The event', 'The venue'])
    expect(await faults(page)).toEqual([])
    await page.context().close()
  })

  it('finds by title, by an address that holds the id, and is itself an address to send', async () => {
    const { page } = await dashboards.opened(DESK, dashboards.small)
    await page.fill('#explain-id', 'event 1000001')
    await page.press('#explain-id', 'Enter')
    await page.locator('#found-count', { hasText: '1 by that name:' }).waitFor()
    await page.click('#found a')
    await page
      .locator('#explanation h3', { hasText: 'The event 00000000-0000-4000-8000-000001000001 is on the web' })
      .waitFor()
    expect(await explain(page, `https://crm.example.org/main.aspx?id=%7b${SHOWN}%7d&etn=event`)).toContain(
      `The event ${SHOWN} is on the web`,
    )
    expect(page.url()).toEndWith(`/?explain=${SHOWN}`)
    const again = await open(dashboards.browser, page.url(), DESK)
    await again.page.locator('#explanation h3', { hasText: `The event ${SHOWN} is on the web` }).waitFor()
    await again.page.context().close()
    await page.context().close()
  })

  it('shows an unknown venue of an event that is on the web as a warning, not as a NO', async () => {
    const running = await dashboards.started(JSON.stringify([event(1, { VenueId: BAD_PRICE })]))
    const { page } = await dashboards.opened(DESK, running)
    expect(await explain(page, SHOWN)).toContain('is on the web')
    expect(await page.locator('#explanation .but').count()).toBe(1)
    expect(await page.locator('#explanation .no').count()).toBe(0)
    expect(await faults(page)).toEqual([])
    await page.context().close()
  })

  it('does not say that all is well where rows are there and none is served', async () => {
    const { page } = await dashboards.opened(
      DARK,
      await dashboards.started(JSON.stringify([event(1, { ShowOnWeb: false })])),
    )
    expect(await page.textContent('#state.warn')).toContain('none of the 1 events is served')
    expect(await faults(page)).toEqual([])
    await page.context().close()
  })

  it('shows what came and changed since the first read, and the last day in three lines', async () => {
    const running = await dashboards.started(events(3, 0))
    const { page } = await dashboards.opened(PHONE, running)
    expect(await page.locator('#changes li').count()).toBe(0)
    running.directory.write(
      'events',
      JSON.stringify([event(1), event(2), ...Array.from({ length: 2 }, (_, index) => event(1_000_001 + index))]),
    )
    await page.locator('#changes-count', { hasText: /^2 of the served records/ }).waitFor()
    expect((await page.locator('#changes a').allTextContents()).toSorted()).toEqual(['Event 1', 'Event 2'])
    expect(await page.locator('#sparklines svg polyline').count()).toBe(3)
    expect(await page.getAttribute('#sparklines svg', 'aria-label')).toMatch(/^\d+ s at most, over/)
    expect(await faults(page)).toEqual([])
    expect(await isWiderThanItsWindow(page)).toBe(false)
    await page.context().close()
  })

  it('shows no count as served where callers get 502, and says what is kept', async () => {
    const running = await dashboards.started(events(3, 0), { freshness: { maxAge: '8s', refreshEvery: '100ms' } })
    const { page } = await dashboards.opened(PHONE, running)
    await page.locator('#card-events dd.big', { hasText: /^3$/ }).waitFor()
    expect(await page.textContent('#card-events')).toContain('Served3Held')
    expect(await page.isVisible('#card-events dt:text-is("Held")')).toBe(false)
    running.directory.write('events', '[')
    await page.locator('#state.bad', { hasText: 'Callers get 502 for events' }).waitFor()
    expect(await page.textContent('#card-events dd.big')).toBe('nothing')
    expect(await page.textContent('#card-events')).toContain('Servednothing')
    expect(await page.isVisible('#card-events dt:text-is("Held")')).toBe(true)
    expect(await page.textContent('#card-events')).toContain('Held3, kept but not served')
    expect(await page.textContent('#card-venues dd.big')).toBe('0')
    expect(await faults(page)).toEqual([])
    await page.context().close()
  })

  it('is used by keyboard alone: skip link, search, explanation', async () => {
    const { page } = await dashboards.opened(DESK, dashboards.small)
    await page.waitForSelector('#withheld-rows li')
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the lists')
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('a value cannot be read: 5')
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Price, a value cannot be read')
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.id')).toBe('explain-id')
    await page.keyboard.type(SHOWN)
    await page.keyboard.press('Enter')
    await page.waitForSelector('#explanation .steps')
    await page.focus('#withheld-rows button')
    await page.keyboard.press('Enter')
    await page.waitForSelector('#explanation .no')
    await page.context().close()
  })

  it('says clearly that the service does not answer, and that what it shows is old', async () => {
    const running = await dashboards.started(events(2, 1))
    const { page } = await dashboards.opened(DESK, running)
    await running.child.stop()
    await page.waitForSelector('body.silent')
    expect(await page.textContent('#state')).toMatch(/^The service does not answer\. The data below is from /)
    expect(await faults(page)).toEqual([])
    await page.context().close()
  })

  it("says that all events are over, and when the last one ended: last year's export", async () => {
    const rows = [event(1), event(2)].map((row) => ({
      ...row,
      Start: '2020-07-12T19:30:00Z',
      Finish: '2020-07-12T21:30:00Z',
    }))
    const running = await dashboards.started(JSON.stringify(rows), { lists: true })
    const { page } = await dashboards.opened(DESK, running)
    await page
      .locator('#state.warn', { hasText: /^All 2 events are over: the last one ended on 12 Jul 2020, / })
      .waitFor()
    expect(await page.textContent('#state')).toEndWith('Check whether the CRM or the export is still kept up to date.')
    expect(await page.textContent('#card-events')).toContain('Not yet over0, in /api/events')
    expect(await faults(page)).toEqual([])
    await page.clock.setFixedTime('2019-06-01T12:00:00Z')
    await page.locator('#state.warn', { hasText: 'machine, which says' }).waitFor()
    expect(await page.textContent('#state')).toContain('Your clock says 1 Jun 2019, ')
    running.directory.write('events', JSON.stringify([...rows, event(3)]))
    await page.locator('#state.good').waitFor()
    await page.context().close()
  })

  it('says why the CRM cannot be read, and until when callers get answers, as /status and explain do', async () => {
    const freshness = { maxAge: '10s', refreshEvery: '100ms', staleIfError: '12h' }
    const running = await dashboards.started(events(2, 0), { freshness })
    const { page } = await dashboards.opened(PHONE, running)
    await page.locator('#state.good').waitFor()
    running.directory.write('events', '{}')
    const state = page.locator('#state.warn', { hasText: /^The CRM cannot be read: / })
    await state.waitFor()
    expect(await state.textContent()).toContain('; the data is still within 10 s.')
    await page.locator('#state.warn', { hasText: / with data \d+ s old\.$/ }).waitFor()
    const { operations } = running.listening
    const status = (await (await fetch(`${operations}status`)).json()) as {
      readonly now: string
      readonly lists: {
        readonly events: { readonly standing: string; readonly answersUntil: string; readonly lastError: string }
      }
    }
    const { standing, answersUntil, lastError } = status.lists.events
    const leftMs = Date.parse(answersUntil) - Date.parse(status.now)
    expect([standing, leftMs > 43_000_000, leftMs <= 43_200_000]).toEqual(['stale', true, true])
    // Two clocks make it, so that it differs by milliseconds.
    const near = [-20, 20].map((ms) => new Date(Date.parse(answersUntil) + ms).toISOString())
    const until = `${JSON.stringify(near)}.map((time) => new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' }).format(new Date(time)))`
    const sentences = (await page.evaluate<readonly string[]>(until)).map(
      (time) => `The CRM cannot be read: ${lastError}. Callers still get answers, until ${time}, with data `,
    )
    const told = (await state.textContent()) ?? ''
    expect([told, sentences.some((sentence) => told.startsWith(sentence))]).toEqual([told, true])
    const explained = await (await fetch(`${operations}explain/${SHOWN}`)).text()
    expect(explained).toContain(lastError)
    const [, served = ''] = /past the maximum age, and served until (\S+) all the same/.exec(explained) ?? []
    expect(Math.abs(Date.parse(served) - Date.parse(answersUntil))).toBeLessThan(1000)
    expect(await faults(page)).toEqual([])
    expect(await isWiderThanItsWindow(page)).toBe(false)
    await page.context().close()
  })

  it('says how old the data is if no read fails, but the file may not be downloaded again within the maximum age', async () => {
    // A file without ETag and Last-Modified is downloaded every ten seconds at most.
    const server = createServer((_, response) => response.end('[]')).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const bound = server.address()
    const from = `http://127.0.0.1:${typeof bound === 'object' && bound !== null ? bound.port : 0}/list.json`
    const list = { from, fields: { Id: 'Id', Name: 'Name' } }
    const shows = { from, fields: { ...list.fields, Start: 'Start', Finish: 'Finish' } }
    const crm = {
      kind: 'files',
      idNamespace: '6f1f3c0e-5f0e-4c57-8a55-0d6c1c0a7e11',
      events: shows,
      venues: list,
    }
    const running = await dashboards.started('[]', { crm, freshness: { maxAge: '4s', refreshEvery: '1s' } })
    const { page } = await dashboards.opened(DESK, running)
    const state = page.locator('#state.bad', { hasText: /the last complete read began \d+ s ago/ })
    await state.waitFor()
    expect(await state.textContent()).toMatch(
      /^Callers get 502 for .*: the last complete read began \d+ s ago, and the maximum age is 4 s\.$/,
    )
    await page.context().close()
    server.close()
  })

  it('says why no snapshot can be written, and what a restart does meanwhile', async () => {
    const snapshot = { directory: '/proc/marquee' }
    const running = await dashboards.started(JSON.stringify([event(1)]), { snapshot })
    const { page } = await dashboards.opened(PHONE, running)
    await page
      .locator('#state.warn', {
        hasText: /^Callers get data at most .*; no snapshot can be written for a restart: .+\.$/,
      })
      .waitFor()
    expect(await page.textContent('#snapshot')).toMatch(
      /^The snapshot cannot be written: .+\. Until it can, a restart reads both lists in full\. Marquee tries again every 5 minutes\.$/,
    )
    expect(await faults(page)).toEqual([])
    expect(await isWiderThanItsWindow(page)).toBe(false)
    await page.context().close()
  })

  it('says why the last reload was refused, until one succeeds', async () => {
    const running = await dashboards.started(events(1, 0))
    const { page } = await dashboards.opened(DESK, running)
    const told = page.locator('#reload')
    expect(await told.isVisible()).toBe(false)
    const right = readFileSync(running.directory.configuration, 'utf8')
    writeFileSync(running.directory.configuration, '{ lisst: true }')
    running.child.signal('SIGHUP')
    await told.waitFor({ state: 'visible' })
    expect(await told.textContent()).toMatch(
      /^The reload of .* was refused, and the old configuration stays in effect: .*lisst/,
    )
    writeFileSync(running.directory.configuration, right)
    running.child.signal('SIGHUP')
    await told.waitFor({ state: 'hidden' })
  })
})
