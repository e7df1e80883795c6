import { afterAll, beforeAll, describe, expect, it } from 'bun:test'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { ROOT } from '../support/child.ts'
import { CHROMIUM, openBrowser } from '../support/browser.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import type { MarqueeProcess } from '../support/marquee-process.ts'
import { serve } from '../support/marquee-process.ts'
import { runCommand } from '../commands/run-command.ts'
import { WorkFolder } from '../commands/work-folder.ts'

// Set to write docs/images/whats-on.png again.
const IMAGE = process.env['WHATS_ON_IMAGE']
/** Set to a folder to keep how the theatre's page looks. */
const LOOKS = process.env['WHATS_ON_LOOKS']
const LOOKED = [
  [1200, 'light'],
  [768, 'dark'],
  [360, 'light'],
] as const
const PICTURE =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 300 200"><rect width="300" height="200" fill="#7a1f3d"/><circle cx="150" cy="90" r="60" fill="#f0b429"/></svg>'

/** A site of another origin: both pages, changed as their comments say, and a picture. */
class Site {
  /** What the pages say where Marquee answers. */
  marquee = 'http://127.0.0.1:8080'
  language = 'en'
  readonly #server = createServer(({ url = '/' }, response) => {
    const [path = '/'] = url.split('?')
    const isPicture = path.endsWith('.svg')
    response.setHeader('Content-Type', isPicture ? 'image/svg+xml' : 'text/html')
    if (path === '/favicon.ico') response.writeHead(404).end()
    else response.end(isPicture ? PICTURE : this.#page(path === '/' ? 'whats-on.html' : path.slice(1)))
  }).listen(0, '127.0.0.1')

  async open(): Promise<string> {
    if (!this.#server.listening) await once(this.#server, 'listening')
    const bound = this.#server.address()
    return `http://127.0.0.1:${typeof bound === 'object' && bound !== null ? bound.port : 0}/`
  }

  #page(name: string): string {
    const html = readFileSync(join(ROOT, 'docs/examples', name), 'utf8')
    return html
      .replace("MARQUEE = 'http://127.0.0.1:8080'", `MARQUEE = '${this.marquee}'`)
      .replace('lang="en"', `lang="${this.language}"`)
      .replace("'GBP'", this.language === 'de' ? "'EUR'" : "'GBP'")
  }

  close(): void {
    this.#server.close()
  }
}

describe.skipIf(CHROMIUM === null).each(['/', '/whats-on'])('docs/examples/whats-on.html under "%s"', (basePath) => {
  const sample = (list: string): string => readFileSync(join(ROOT, 'sample', `${list}.json`), 'utf8')
  const directory = new FilesDirectory(
    { lists: 'on', listen: { basePath } },
    { events: sample('events'), venues: sample('venues') },
  )
  let marquee: MarqueeProcess
  let site: Site
  let browser: Browser
  let address = ''
  beforeAll(async () => {
    marquee = await serve('bun', directory.configuration)
    site = new Site()
    site.marquee = `http://127.0.0.1:${marquee.port}${basePath === '/' ? '' : basePath}`
    address = await site.open()
    browser = await openBrowser()
  })
  afterAll(async () => {
    await browser.close()
    site.close()
    await marquee.child.stop()
    directory.remove()
  })

  it('shows the next ten events with their venues to a browser from another origin, and walks on to the last', async () => {
    const page = await (await browser.newContext({ viewport: { width: 900, height: 760 } })).newPage()
    const complaints: string[] = []
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('console', (message) => {
      if (message.type() === 'error' && !message.text().includes('favicon')) complaints.push(message.text())
    })
    await page.goto(address)
    const items = page.locator('#events li')
    await items.nth(9).waitFor()
    expect(await items.count()).toBe(10)
    expect(await items.first().innerText()).toMatch(
      /^Stadstuinieren voor beginners\n\nSat, April 12, 2036 at 11:30 AM · Tuinzaal Zonnehof · sold out$/,
    )
    if (IMAGE !== undefined && basePath === '/') await page.screenshot({ path: join(ROOT, 'docs/images/whats-on.png') })
    for (const shown of [20, 30, 31]) {
      await page.locator('#more').click()
      await items.nth(shown - 1).waitFor()
      expect(await items.count()).toBe(shown)
    }
    await page.locator('#said', { hasText: 'That is all.' }).waitFor()
    expect(complaints.filter((text) => !text.includes('404'))).toEqual([])
  })
})

describe.skipIf(CHROMIUM === null)("a theatre's spreadsheet, from init --from to the page", () => {
  it('shows description, picture and what is cancelled or postponed, and nothing of a text is markup', async () => {
    const site = new Site()
    const address = await site.open()
    const rows = [
      `1;Figaro;12.07.2036;19:30;22:30;Großes Haus;250;40;ab 25,00 €;Oper;<p>Eine <b>Oper</b> in vier Akten.</p><p>Von Mozart.</p>;${address}figaro.svg;geplant;ja;https://karten.example.org/1`,
      '2;Tosca;13.07.2036;19:30;22:00;Großes Haus;250;10;35,00;Oper;"&lt;img src=x onerror=alert(1)&gt;";javascript:alert(1);abgesagt;ja;https://karten.example.org/2',
      '3;Lesung;14.07.2036;20:00;21:30;Kleines Haus;90;0;9,50;Lesung;;;verschoben auf 21.02.;ja;https://karten.example.org/3',
      '5;Krug;16.07.2036;11:00;12:30;Kleines Haus;90;0;9,50;Lesung;;;geplant, im Foyer;ja;',
      '4;Matinee;15.07.2036;11:00;12:30;Kleines Haus;90;0;9,50;Lesung;;;<i>nur noch Stehplätze</i>;ja;',
    ]
    const head =
      'Nr;Titel;Datum;Beginn;Ende;Saal;Plätze;Verkauft;Preis;Sparte;Kurztext;Bild;Zustand;Öffentlich;Kartenlink'
    using folder = new WorkFolder({
      'Spielplan.csv': [head, ...rows, ''].join('\n'),
      'Orte.csv': 'Name;Stadt\nGroßes Haus;Ulm\nKleines Haus;Ulm\n',
    })
    const args = ['init', 'files', '--from', 'Spielplan.csv', '--from', 'Orte.csv']
    expect((await runCommand(args, { cwd: folder.path })).status).toBe(0)
    const proposed = readFileSync(folder.at('marquee.yaml'), 'utf8')
    // What a person does: removes the # of what is to be published, and shows what is cancelled.
    folder.write(
      'marquee.yaml',
      `operations: null\n${proposed
        .replace('port: 8080', 'port: 0')
        .replaceAll(/^( {6})# (?=[A-Z]\w+: )/gm, '$1')
        .replace(/^(?:# )?representation:(?:\n[# ].*)*/m, (block) =>
          block.replaceAll(/^# /gm, '').replace('rel: tickets', 'rel: tickets, title: Karten'),
        )
        .replace(/^( {4}active:) .*Zustand.*$/m, '$1 null')}`,
    )
    const marquee = await serve('bun', folder.at('marquee.yaml'))
    site.marquee = `http://127.0.0.1:${marquee.port}`
    site.language = 'de'
    const browser = await openBrowser()
    try {
      for (const [width, colorScheme] of LOOKED) {
        const context = await browser.newContext({ viewport: { width, height: 844 }, colorScheme })
        const page = await context.newPage()
        const dialogs: string[] = []
        page.on('dialog', (dialog) => {
          dialogs.push(dialog.message())
          void dialog.dismiss()
        })
        await page.goto(address)
        const items = page.locator('#events li')
        await items.nth(4).waitFor()
        await page.waitForFunction('[...document.images].every((image) => image.complete && image.naturalWidth > 0)')
        expect((await items.allInnerTexts()).map((text) => text.replaceAll('\u00a0', ' '))).toEqual([
          'Figaro\n\nSa., 12. Juli 2036 um 19:30 · Großes Haus · ab 25,00 €\n\nEine Oper in vier Akten.\nVon Mozart.\n\nKarten',
          'Tosca\n\nSo., 13. Juli 2036 um 19:30 · Großes Haus · abgesagt\n\n<img src=x onerror=alert(1)>',
          'Lesung\n\nMo., 14. Juli 2036 um 20:00 · Kleines Haus · verschoben auf 21.02. · 9,50 €',
          'Matinee\n\nDi., 15. Juli 2036 um 11:00 · Kleines Haus · <i>nur noch Stehplätze</i> · 9,50 €',
          'Krug\n\nMi., 16. Juli 2036 um 11:00 · Kleines Haus · geplant, im Foyer · 9,50 €',
        ])
        expect(await page.locator('img').count()).toBe(1)
        const isWide = await page.evaluate('document.documentElement.scrollWidth > innerWidth')
        expect([width, isWide, dialogs]).toEqual([width, false, []])
        if (LOOKS !== undefined) await page.screenshot({ path: join(LOOKS, `theatre-${width}-${colorScheme}.png`) })
        await items.nth(3).locator('h2 a').click()
        await page.locator('h1', { hasText: 'Matinee' }).waitFor()
        expect(await page.locator('main').innerText()).toMatch(/ · <i>nur noch Stehplätze<\/i> · 9,50\s€/)
        await context.close()
      }
    } finally {
      await browser.close()
      await marquee.child.stop()
      site.close()
    }
  })
})

describe.skipIf(CHROMIUM === null)('the pages of docs/examples, when not all is well', () => {
  const id = (number: number): string => `a0000000-0000-4000-8000-00000000000${number}`
  const event = (number: number, tags: readonly string[]): object => ({
    Id: id(number),
    Name: `Event ${number}`,
    VenueId: id(9),
    TicketCapacity: 10,
    TicketsAvailable: 3,
    Start: `2036-07-1${number}T00:00:00Z`,
    Finish: `2036-07-1${number}T23:59:59Z`,
    Price: 12.5,
    Tags: tags,
    ShowOnWeb: true,
    Links: [{ Rel: 'tickets', Href: number === 1 ? 'javascript:alert(1)' : 'https://t.example.org/?a=1&b=2' }],
    Description: '</script><script>alert(1)</script>',
  })
  const events = JSON.stringify([event(1, ['Music & more']), event(2, ['Talk', 'Music & more']), event(3, [])])
  const venues = JSON.stringify([{ Id: id(9), Name: 'Hall', AddressPostalCode: '89073', AddressCity: 'Ulm' }])
  const settings = {
    feeds: { jsonLd: 'on' },
    representation: { currency: 'GBP', further: { events: { Description: 'text' } } },
  }
  let browser: Browser
  const site = new Site()
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(async () => {
    await browser.close()
    site.close()
  })

  it.each([
    ['lists are off', { ...settings }, { events, venues }],
    ['the CRM cannot be read', { ...settings, lists: 'on' }, {}],
  ])('say so if %s, and show nothing that an address says', async (_, given, lists) => {
    const directory = new FilesDirectory(given, lists)
    const marquee = await serve('bun', directory.configuration)
    site.marquee = `http://127.0.0.1:${marquee.port}`
    const page = await browser.newPage()
    try {
      await page.goto(`${await site.open()}?from=${site.marquee}/elsewhere`)
      await page.locator('#said', { hasText: 'cannot be shown' }).waitFor()
      expect(await page.locator('#more').innerText()).toBe('Try again')
      expect(await page.locator('#events li').count()).toBe(0)
      if (!('lists' in given)) return
      directory.write('events', events)
      directory.write('venues', venues)
      await page.waitForTimeout(1000)
      for (let turn = 0; turn < 20 && (await page.locator('#events li').count()) === 0; turn++) {
        await page.locator('#more').click()
        await page.waitForTimeout(500)
      }
      expect(await page.locator('#events li').count()).toBe(3)
    } finally {
      await page.close()
      await marquee.child.stop()
      directory.remove()
    }
  })

  it('say so if nothing answers', async () => {
    site.marquee = 'http://127.0.0.1:9'
    const page = await browser.newPage()
    await page.goto(await site.open())
    await page.locator('#said', { hasText: 'cannot be shown' }).waitFor()
    await page.goto(`${await site.open()}event.html?id=${id(1)}`)
    await page.locator('main', { hasText: 'cannot be shown' }).waitFor()
    await page.close()
  })

  it('show a tag, and lead to the page of one event with its JSON-LD', async () => {
    const directory = new FilesDirectory({ ...settings, lists: 'on', listen: { basePath: '/on' } }, { events, venues })
    const marquee = await serve('bun', directory.configuration)
    site.marquee = `http://127.0.0.1:${marquee.port}/on`
    const page = await browser.newPage()
    const dialogs: string[] = []
    page.on('dialog', (dialog) => {
      dialogs.push(dialog.message())
      void dialog.dismiss()
    })
    try {
      await page.goto(await site.open())
      const items = page.locator('#events li')
      await items.nth(2).waitFor()
      expect(await page.locator('#tag option').allInnerTexts()).toEqual(['everything', 'Music & more (2)', 'Talk (1)'])
      await page.locator('#tag').selectOption({ label: 'Talk (1)' })
      await page.waitForFunction("document.querySelectorAll('#events li').length === 1")
      expect(await items.innerText()).toContain('Event 2\n\nSat, July 12, 2036 · Hall · £12.50')
      expect(
        await page.evaluate("[...document.querySelectorAll('#events a')].map((link) => link.getAttribute('href'))"),
      ).toEqual([`event.html?id=${id(2)}`, 'https://t.example.org/?a=1&b=2'])
      await items.locator('h2 a').click()
      await page.locator('h1', { hasText: 'Event 2' }).waitFor()
      expect(await page.title()).toBe('Event 2')
      expect(await page.locator('main').innerText()).toContain('Saturday, July 12, 2036 · £12.50')
      expect(await page.locator('main').innerText()).toContain('Hall, 89073 Ulm')
      const script = page.locator('script[type="application/ld+json"]')
      await script.waitFor({ state: 'attached' })
      const url = `${site.marquee}/api/events/${id(2)}`
      const body = await (await fetch(url, { headers: { Accept: 'application/ld+json' } })).text()
      expect(await script.textContent()).toBe(body)
      for (const [width, colorScheme] of LOOKED) {
        await page.setViewportSize({ width, height: 844 })
        await page.emulateMedia({ colorScheme })
        expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false)
        if (LOOKS !== undefined) await page.screenshot({ path: join(LOOKS, `event-${width}-${colorScheme}.png`) })
      }
      for (const unknown of ['', id(7), '../venues']) {
        await page.goto(`${await site.open()}event.html?id=${unknown}`)
        await page.locator('main', { hasText: 'There is no such event.' }).waitFor()
      }
      expect(dialogs).toEqual([])
    } finally {
      await page.close()
      await marquee.child.stop()
      directory.remove()
    }
  })
})
