import { afterAll, beforeAll, describe, expect, it } from 'bun:test'
import { readFileSync } from 'node:fs'
import type { Server } from 'node:http'
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
const html = readFileSync(join(ROOT, 'docs/examples/whats-on.html'))
const PICTURE =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 300 200"><rect width="300" height="200" fill="#7a1f3d"/><circle cx="150" cy="90" r="60" fill="#f0b429"/></svg>'

/** A site of another origin: the page, and a picture. */
function siteOf(page: Uint8Array): Server {
  return createServer(({ url }, response) => {
    const isPicture = url?.endsWith('.svg') === true
    response.setHeader('Content-Type', isPicture ? 'image/svg+xml' : 'text/html').end(isPicture ? PICTURE : page)
  }).listen(0, '127.0.0.1')
}

async function portOf(site: Server): Promise<number> {
  await once(site, 'listening')
  const bound = site.address()
  return typeof bound === 'object' && bound !== null ? bound.port : 0
}

describe.skipIf(CHROMIUM === null).each(['/', '/whats-on'])('docs/examples/whats-on.html under "%s"', (basePath) => {
  const sample = (list: string): string => readFileSync(join(ROOT, 'sample', `${list}.json`), 'utf8')
  const directory = new FilesDirectory(
    { lists: 'on', listen: { basePath } },
    { events: sample('events'), venues: sample('venues') },
  )
  let marquee: MarqueeProcess
  let site: Server
  let browser: Browser
  let address = ''
  beforeAll(async () => {
    marquee = await serve('bun', directory.configuration)
    site = siteOf(html)
    const port = await portOf(site)
    address = `http://127.0.0.1:${port}/?from=http://127.0.0.1:${marquee.port}${basePath === '/' ? '' : basePath}`
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
      /^Stadstuinieren voor beginners\n2036-04-12, 11:30 · Tuinzaal Zonnehof$/,
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
    const site = siteOf(html)
    const port = await portOf(site)
    const rows = [
      `1;Figaro;12.07.2036;19:30;22:30;Großes Haus;250;40;25,00;Oper;<p>Eine <b>Oper</b> in vier Akten.</p><p>Von Mozart.</p>;http://127.0.0.1:${port}/figaro.svg;geplant;ja`,
      '2;Tosca;13.07.2036;19:30;22:00;Großes Haus;250;10;35,00;Oper;"&lt;img src=x onerror=alert(1)&gt;";javascript:alert(1);abgesagt;ja',
      '3;Lesung;14.07.2036;20:00;21:30;Kleines Haus;90;3;9,50;Lesung;;;verschoben;ja',
    ]
    const head = 'Nr;Titel;Datum;Beginn;Ende;Saal;Plätze;Verkauft;Preis;Sparte;Kurztext;Bild;Zustand;Öffentlich'
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
        .replace(/^# representation:(?:\n#.*)*/m, (block) => block.replaceAll(/^# /gm, ''))
        .replace(/^( {4}active:) .*Zustand.*$/m, '$1 null')}`,
    )
    const marquee = await serve('bun', folder.at('marquee.yaml'))
    const browser = await openBrowser()
    try {
      for (const [width, colorScheme] of [
        [1200, 'light'],
        [1200, 'dark'],
        [390, 'light'],
        [390, 'dark'],
      ] as const) {
        const context = await browser.newContext({ viewport: { width, height: 844 }, colorScheme })
        const page = await context.newPage()
        const dialogs: string[] = []
        page.on('dialog', (dialog) => {
          dialogs.push(dialog.message())
          void dialog.dismiss()
        })
        await page.goto(`http://127.0.0.1:${port}/?from=http://127.0.0.1:${marquee.port}`)
        const items = page.locator('#events li')
        await items.nth(2).waitFor()
        await page.waitForFunction('[...document.images].every((image) => image.complete && image.naturalWidth > 0)')
        expect(await items.allInnerTexts()).toEqual([
          'Figaro\n2036-07-12, 19:30 · Großes Haus\n\nEine Oper in vier Akten.\nVon Mozart.',
          'Tosca\n2036-07-13, 19:30 · Großes Haus · cancelled\n\n<img src=x onerror=alert(1)>',
          'Lesung\n2036-07-14, 20:00 · Kleines Haus · postponed',
        ])
        expect(await page.locator('img').count()).toBe(1)
        const isWide = await page.evaluate('document.documentElement.scrollWidth > innerWidth')
        expect([width, isWide, dialogs]).toEqual([width, false, []])
        if (LOOKS !== undefined) await page.screenshot({ path: join(LOOKS, `theatre-${width}-${colorScheme}.png`) })
        await context.close()
      }
    } finally {
      await browser.close()
      await marquee.child.stop()
      site.close()
    }
  })
})
