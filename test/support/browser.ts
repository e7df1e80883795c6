import type { Browser, Page } from 'playwright-core'
import { chromium } from 'playwright-core'
import { PATIENCE_MS } from './eventually.ts'
import { installedProgram } from './installed-program.ts'

/** Debian's Chromium; `null` if it is not installed. */
export const CHROMIUM: string | null = installedProgram('chromium')

const QUIET = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

export function openBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM ?? '', args: QUIET })
}

export interface Look {
  readonly width: number
  readonly height: number
  readonly colorScheme: 'light' | 'dark'
}

export interface Watched {
  readonly page: Page
  /** The page's complaints: errors, refused scripts, and dialogs opened by CRM text. */
  readonly complaints: string[]
}

/** Opens an address and records everything that our pages must never do. */
export async function open(browser: Browser, address: string, { width, height, colorScheme }: Look): Promise<Watched> {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme, reducedMotion: 'reduce' })
  context.setDefaultTimeout(PATIENCE_MS)
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', (message) => {
    // A 503 of /status is a valid answer, but the browser reports it as an error.
    if (message.type() === 'error' && !message.text().includes('503')) complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('request', (request) => {
    if (!request.url().startsWith(address)) complaints.push(`asked elsewhere: ${request.url()}`)
  })
  await page.goto(address)
  return { page, complaints }
}
