import { afterAll, beforeAll, describe } from 'bun:test'
import { join } from 'node:path'
import axe from 'axe-core'
import type { Browser, Page } from 'playwright-core'
import { type Look, type Watched, CHROMIUM, open, openBrowser } from '../support/browser.ts'
import { ROOT } from '../support/child.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import { type MarqueeProcess, serve } from '../support/marquee-process.ts'

export const DESK: Look = { width: 1280, height: 900, colorScheme: 'light' }
export const DARK: Look = { ...DESK, colorScheme: 'dark' }
export const PHONE: Look = { width: 390, height: 844, colorScheme: 'light' }
export const MARKUP = '<img src=x onerror=alert(1)><script>alert(2)</script>'
export const SHOWN = '00000000-0000-4000-8000-000000000001'
export const BAD_PRICE = '00000000-0000-4000-8000-000000000002'

export function event(index: number, changes: Readonly<Record<string, unknown>> = {}): object {
  const Id = `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`
  const times = { Start: '2036-07-12T19:30:00Z', Finish: '2036-07-12T21:30:00Z' }
  return { Id, Name: `Event ${index}`, ...times, Price: '12.50', ShowOnWeb: true, ...changes }
}

/** `served` events, of which the first has a name full of markup, and as many withheld for a price full of it. */
export function events(served: number, withheld: number): string {
  const rows = [event(1, { Name: MARKUP })]
  for (let index = 2; index < withheld + 2; index++) rows.push(event(index, { Price: `${MARKUP}${index}` }))
  for (let index = 1; index < served; index++) rows.push(event(1_000_000 + index))
  return JSON.stringify(rows)
}

type Started = MarqueeProcess & { readonly directory: FilesDirectory }

/** A browser, and the services whose dashboards it shows. */
class Dashboards {
  #browser: Browser | null = null
  #small: MarqueeProcess | null = null
  readonly #directories: FilesDirectory[] = []
  readonly #processes: MarqueeProcess[] = []

  async begin(): Promise<void> {
    this.#browser = await openBrowser()
    this.#small = await this.started(events(3, 5))
  }

  get browser(): Browser {
    return begun(this.#browser)
  }

  /** Serves three events, and withholds five. */
  get small(): MarqueeProcess {
    return begun(this.#small)
  }

  async end(): Promise<void> {
    await this.#browser?.close()
    for (const { child } of this.#processes) await child.stop()
    for (const directory of this.#directories) directory.remove()
  }

  /** Serves the directory until the end. */
  async serve(directory: FilesDirectory): Promise<MarqueeProcess> {
    this.#directories.push(directory)
    const running = await serve('bun', directory.configuration)
    this.#processes.push(running)
    return running
  }

  async started(lists: string, settings: object = {}): Promise<Started> {
    const freshness = { maxAge: '10s', refreshEvery: '100ms' }
    const directory = new FilesDirectory(
      { operations: { port: 0 }, freshness, ...settings },
      { events: lists, venues: '[]' },
    )
    return { ...(await this.serve(directory)), directory }
  }

  async opened(look: Look, running: MarqueeProcess): Promise<Watched> {
    const watched = await open(this.browser, running.listening.operations ?? '', look)
    await watched.page.waitForSelector('#lists article')
    return watched
  }
}

function begun<Part>(part: Part | null): Part {
  if (part === null) throw new Error('begin was not called')
  return part
}

/** Describes dashboards in Chromium. */
export function describeDashboards(title: string, tests: (dashboards: Dashboards) => void): void {
  describe.skipIf(CHROMIUM === null)(title, () => {
    const dashboards = new Dashboards()
    beforeAll(() => dashboards.begin())
    afterAll(() => dashboards.end())
    tests(dashboards)
  })
}

export async function explain(page: Page, id: string): Promise<string> {
  await page.fill('#explain-id', id)
  await page.press('#explain-id', 'Enter')
  await page.waitForSelector('#explanation h3')
  return (await page.textContent('#explanation')) ?? ''
}

/** What axe finds, each as its rule and the elements it is about. */
export async function faults(page: Page): Promise<string[]> {
  // As the debugger evaluates it: the page's own policy forbids scripts from elsewhere, axe's included.
  await page.evaluate(axe.source)
  const found = await page.evaluate<axe.AxeResults>('axe.run()')
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
}

export async function isWiderThanItsWindow(page: Page): Promise<boolean> {
  return page.evaluate('document.documentElement.scrollWidth > window.innerWidth')
}

export async function screenshot(page: Page, name: string): Promise<void> {
  if (process.env['MARQUEE_SCREENSHOTS'] !== '1') return
  await page.screenshot({ path: join(ROOT, 'docs/images', `${name}.png`), fullPage: true })
}
