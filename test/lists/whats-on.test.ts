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

// Set to write docs/images/whats-on.png again.
const IMAGE = process.env['WHATS_ON_IMAGE']

describe.skipIf(CHROMIUM === null).each(['/', '/whats-on'])('docs/examples/whats-on.html under "%s"', (basePath) => {
  const sample = (list: string): string => readFileSync(join(ROOT, 'sample', `${list}.json`), 'utf8')
  const directory = new FilesDirectory(
    { lists: 'on', listen: { basePath } },
    { events: sample('events'), venues: sample('venues') },
  )
  const html = readFileSync(join(ROOT, 'docs/examples/whats-on.html'))
  let marquee: MarqueeProcess
  let site: Server
  let browser: Browser
  let address = ''
  beforeAll(async () => {
    marquee = await serve('bun', directory.configuration)
    site = createServer((_, response) => response.setHeader('Content-Type', 'text/html').end(html)).listen(
      0,
      '127.0.0.1',
    )
    await once(site, 'listening')
    const bound = site.address()
    const port = typeof bound === 'object' && bound !== null ? bound.port : 0
    address = `http://127.0.0.1:${port}/?from=http://127.0.0.1:${marquee.port}${basePath === '/' ? '' : basePath}`
    browser = await openBrowser()
  }, 60_000)
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
  }, 60_000)
})
