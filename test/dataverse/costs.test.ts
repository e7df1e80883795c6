import { describe, expect, it } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Child, programOf } from '../support/child.ts'
import { eventually } from '../support/eventually.ts'
import type { MarqueeProcess } from '../support/marquee-process.ts'
import { untilListening } from '../support/marquee-process.ts'
import type { Environment } from './environment.ts'
import { crmSection, eventValues, fill, idOf, openEnvironment, venueValues } from './environment.ts'

interface Status {
  readonly lists: Readonly<Record<'events' | 'venues', { readonly served: number }>>
}

async function serve({ standIn }: Environment, freshness: Readonly<Record<string, string>>): Promise<MarqueeProcess> {
  const directory = mkdtempSync(join(tmpdir(), 'marquee-costs-'))
  const crm = crmSection(standIn)
  const path = join(directory, 'marquee.yaml')
  writeFileSync(path, JSON.stringify({ listen: { port: 0 }, operations: { port: 0 }, snapshot: null, freshness, crm }))
  const env = { SECRET: standIn.directory.secret }
  const child = new Child(programOf('bun'), ['src/main.ts', 'serve', '--config', path], { env })
  const running = await untilListening(child)
  rmSync(directory, { recursive: true })
  return running
}

async function untilServed({ listening }: MarqueeProcess, events: number): Promise<void> {
  const status = async (): Promise<Status> =>
    JSON.parse(await (await fetch(`${listening.operations}status`)).text()) as Status
  await eventually(status, ({ lists }) => lists.events.served === events && lists.venues.served > 0)
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

describe('what a service costs Dataverse', () => {
  it('is what the formula says, whatever the traffic', async () => {
    const environment = await openEnvironment()
    fill(environment, 2500)
    const running = await serve(environment, { maxAge: '10s', refreshEvery: '200ms', fullReadEvery: '1s' })
    await untilServed(running, 2500)
    /** Requests a second, while it works for so long and until there were so many. */
    const spent = async (seconds: number, count: number, work: () => Promise<unknown>): Promise<number> => {
      const made = (): number => environment.standIn.reads.length
      const [before, beganMs] = [made(), performance.now()]
      const lasted = (): number => (performance.now() - beganMs) / 1000
      await eventually(work, () => lasted() > seconds && made() - before >= count)
      return (made() - before) / lasted()
    }
    // 2 lists ÷ 0.2 s, and each second 3 pages of events and 1 of venues, and for each list the refresh that ends it.
    const formula = 2 / 0.2 + 4 + 2
    const quiet = await spent(4, 4 * formula * 0.4, () => pause(50))
    const url = `${running.listening.address}api/events/`
    const ids = Array.from({ length: 40 }, (_, number) => idOf(number * 100))
    const busy = await spent(4, 0, () => Promise.all(ids.map(async (id) => (await fetch(url + id)).text())))
    await running.child.stop()
    environment.standIn.close()
    // Never more; less only by what a read itself takes, on a loaded machine too.
    expect(quiet).toBeLessThanOrEqual(formula * 1.1)
    expect(busy).toBeLessThanOrEqual(formula * 1.1)
  })

  it('and itself: 25,000 events and 2,500 venues, read again and again in flat memory', async () => {
    const environment = await openEnvironment()
    for (let number = 0; number < 2500; number++) environment.venues.put(idOf(0x10_0000 + number), venueValues(number))
    for (let number = 1; number <= 25_000; number++) {
      const _msevtmgt_primaryvenue_value = idOf(0x10_0000 + (number % 2500))
      environment.events.put(idOf(number), eventValues(number, { _msevtmgt_primaryvenue_value }))
    }
    const running = await serve(environment, { refreshEvery: '1s', fullReadEvery: '1s' })
    await untilServed(running, 25_000)
    const megabytesOf = (field: 'VmHWM' | 'VmRSS'): number => {
      const status = readFileSync(`/proc/${running.child.pid}/status`, 'utf8')
      return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024
    }
    /** The least memory between two collections until so many reads were made: what grows is never given back. */
    const leastMegabytesUntil = async (count: number): Promise<number> => {
      let least = Number.POSITIVE_INFINITY
      const look = async (): Promise<number> => {
        least = Math.min(least, megabytesOf('VmRSS'))
        return environment.standIn.reads.length
      }
      await eventually(look, (made) => made > count)
      return least
    }
    await leastMegabytesUntil(240)
    const settled = await leastMegabytesUntil(480)
    const later = await leastMegabytesUntil(720)
    const peak = megabytesOf('VmHWM')
    const sizes = environment.standIn.reads.map(({ headers }) => headers['prefer'])
    await running.child.stop()
    environment.standIn.close()
    expect(later - settled).toBeLessThan(32)
    expect(peak).toBeLessThan(512)
    expect(new Set(sizes)).toEqual(new Set(['odata.track-changes,odata.maxpagesize=1000', 'odata.maxpagesize=1000']))
  })
})
