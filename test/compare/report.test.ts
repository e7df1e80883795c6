import { afterAll, beforeAll, describe, expect, it } from 'bun:test'
import { writeFileSync } from 'node:fs'
import type { Browser } from 'playwright-core'
import { ComparisonTally } from '../../src/compare/tally.ts'
import type { ValuePair } from '../../src/compare/difference.ts'
import { reportHtml, reportLines } from '../../src/compare/report.ts'
import { WorkFolder } from '../commands/work-folder.ts'
import { DARK, DESK, faults, isWiderThanItsWindow, MARKUP, PHONE } from '../operations/dashboard-rig.ts'
import { CHROMIUM, open, openBrowser } from '../support/browser.ts'

const SUBJECT = {
  old: 'https://old.example.org',
  new: 'http://127.0.0.1:8080',
  headerFile: 'credentials.txt',
  total: 100_000,
  ending: { kind: 'complete' },
  isLog: false,
} as const

/** A comparison of 100,000 answers in which everything is as long and as varied as it can be. */
function largest(): ComparisonTally {
  const tally = new ComparisonTally()
  const long = `${MARKUP}\u202e${'W'.repeat(200)}`
  for (let index = 0; index < 100_000; index++) {
    const question = {
      method: 'GET',
      path: `/api/events/${index}${long}`,
      accept: `text/x${index % 300}`,
      weight: 1,
    } as const
    const row: ValuePair = {
      class: 'different',
      what: `another text`,
      at: `/${index % 3000}${MARKUP}`,
      old: `a${long}`,
      new: `b${long}`,
    }
    const rows =
      index < 4000 ? Array.from({ length: 80 }, (): ValuePair => ({ ...row, class: 'sameBytes', what: null })) : []
    const findings = index % 2 === 0 ? [{ ...row, what: 'another text' }] : []
    tally.add({ question, class: index % 2 === 0 ? 'different' : 'sameBytes', findings, rows: [row, ...rows] })
  }
  return tally
}

it('the report of 100,000 answers is at most 2 MB, however many differences there are', async () => {
  const tally = largest()
  const html = await reportHtml(tally, SUBJECT)
  expect(tally.counts.different).toBe(50_000)
  expect(tally.groups().reduce((sum, { count }) => sum + count, 0)).toBe(50_000)
  expect(Buffer.byteLength(html)).toBeLessThan(2_000_000)
  expect(Buffer.byteLength(html)).toBeGreaterThan(1_000_000)
  const lines = reportLines(tally, SUBJECT)
  expect(lines.filter((line) => line.startsWith('different: ')).length).toBe(10)
  expect(lines.at(-1)).toStartWith('50,000 of 100,000 answers are different, most often another text at /')
  expect(lines.join('\n')).not.toContain('\u202e')
})

describe.skipIf(CHROMIUM === null)('the report in Chromium', () => {
  const folder = new WorkFolder()
  let browser: Browser
  let address = ''

  beforeAll(async () => {
    browser = await openBrowser()
    writeFileSync(folder.at('report.html'), await reportHtml(largest(), SUBJECT))
    address = `file://${folder.at('report.html')}`
  })
  afterAll(async () => {
    await browser.close()
    folder[Symbol.dispose]()
  })

  it.each([
    ['light', DESK],
    ['dark', DARK],
    ['phone', PHONE],
  ] as const)(
    'runs nothing of what services answer, gives axe nothing to find, and is as wide as its window: %s',
    async (_, look) => {
      const { page, complaints } = await open(browser, address, look)
      // The parts are alike, and axe takes minutes for all of them.
      await page.evaluate(
        `document.querySelectorAll('section:nth-of-type(n + 3), tr:nth-of-type(n + 9)').forEach((part) => part.remove())`,
      )
      expect(await page.textContent('h1')).toBe('Comparison with https://old.example.org')
      expect(await page.locator('img, script').count()).toBe(0)
      expect(await page.locator('section').first().locator('mark').allTextContents()).toEqual(['a', 'b'])
      expect(await page.locator('section pre').first().textContent()).toContain(
        "curl -si -H @credentials.txt -H 'Accept: ",
      )
      expect(await isWiderThanItsWindow(page)).toBe(false)
      expect(await faults(page)).toEqual([])
      expect(complaints).toEqual([])
      await page.context().close()
    },
  )

  it('prints on white, whatever the theme is, with what differs marked', async () => {
    const { page } = await open(browser, address, DARK)
    await page.emulateMedia({ media: 'print' })
    const colours = await page.evaluate<string[]>(
      `[document.body, document.querySelector('mark')].map((part) => getComputedStyle(part).backgroundColor)`,
    )
    expect(colours).toEqual(['rgb(255, 255, 255)', 'rgb(255, 224, 138)'])
    await page.context().close()
  })
})
