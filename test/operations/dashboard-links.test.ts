import { describe, expect, it } from 'bun:test'
import { CHROMIUM, openBrowser } from '../support/browser.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import { freePort } from '../support/free-port.ts'
import { serve } from '../support/marquee-process.ts'

const LISTS = { events: '[]', venues: '[]' }

describe('the dashboard and the page for browsers', () => {
  it.skipIf(CHROMIUM === null)('link to each other if both listeners are on loopback', async () => {
    const operations = { port: await freePort() }
    const directory = new FilesDirectory({ operations, listen: { basePath: '/on' } }, LISTS)
    const { child, listening } = await serve('bun', directory.configuration)
    const browser = await openBrowser()
    try {
      const page = await (await browser.newContext()).newPage()
      await page.goto(listening.operations ?? '')
      await page.click('#public a')
      await page.waitForURL(`${listening.address}on/`)
      expect(await page.textContent('h1')).toBe('Events and venues')
      await page.click('#dashboard a')
      await page.waitForURL(listening.operations ?? '')
      await page.waitForSelector('#public a')
    } finally {
      await browser.close()
      await child.stop()
      directory.remove()
    }
  })

  it('name no address of the other if the public listener is open to other machines, or there is no page', async () => {
    const operations = { port: await freePort() }
    for (const settings of [{ listen: { host: '0.0.0.0' } }, { describe: 'off' }]) {
      const directory = new FilesDirectory({ operations, ...settings }, LISTS)
      const { child, listening, port } = await serve('bun', directory.configuration)
      const status = (await (await fetch(`${listening.operations ?? ''}status`)).json()) as object
      expect(Object.hasOwn(status, 'page')).toBe(false)
      const page = await fetch(`http://127.0.0.1:${port}/`, { headers: { Accept: 'text/html' } })
      expect(await page.text()).not.toContain('data-dashboard')
      await child.stop()
      directory.remove()
    }
  })
})
