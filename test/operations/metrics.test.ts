import { afterAll, beforeAll, describe, expect, it } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../support/child.ts'
import { eventually } from '../support/eventually.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import { installedProgram } from '../support/installed-program.ts'
import type { MarqueeProcess } from '../support/marquee-process.ts'
import { serve } from '../support/marquee-process.ts'
import { askOperations, sampleOf } from '../support/operations-client.ts'
import { exposed } from '../support/exposed-metrics.ts'
import { RUNTIMES } from '../support/depth.ts'

const PROMTOOL = installedProgram('promtool')
const SECRET = 'Privet Drive'
const EVENT = {
  Id: '5f6c2a3e-8d0b-4c57-9e21-0a4b7d9c1e34',
  Name: SECRET,
  Start: '2026-07-12T19:30:00Z',
  Finish: '2026-07-12T21:30:00Z',
  ShowOnWeb: true,
}
const WITHHELD = { ...EVENT, Id: '5f6c2a3e-8d0b-4c57-9e21-0a4b7d9c1e35', Price: SECRET }

describe.each(RUNTIMES)('the metrics on %s', (runtime) => {
  let directory: FilesDirectory
  let running: MarqueeProcess
  let text = ''
  beforeAll(async () => {
    const lists = { events: JSON.stringify([EVENT, WITHHELD]), venues: '[]' }
    const webhooks = { feeds: { changes: 'on' }, webhooks: [{ url: 'http://127.0.0.1:9/', body: 'empty' }] }
    directory = new FilesDirectory({ operations: { port: 0 }, log: { requests: true }, ...webhooks }, lists)
    running = await serve(runtime, directory.configuration)
    const { address } = running.listening
    for (const accept of ['application/json', 'text/xml', 'text/xml']) {
      await (await fetch(`${address}API/Events/${EVENT.Id}?q`, { headers: { Accept: accept } })).text()
    }
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
    await (await fetch(`${address}api/venues/${EVENT.Id}`, { headers: { traceparent } })).text()
    for (const path of [`events/${EVENT.Id}/venue`, 'wp-login.php', 'api/events/1']) {
      await (await fetch(address + path)).text()
    }
    await fetch(`${address}events/${EVENT.Id}`, { method: 'OPTIONS' })
    for (const [path, accept] of [
      ['', 'text/html'],
      ['', 'application/json'],
      ['api/openapi.json/?x', 'application/openapi+json'],
    ] as const) {
      await (await fetch(address + path, { headers: { Accept: accept } })).text()
    }
    text = (await askOperations(`${running.listening.operations ?? ''}metrics`))?.text ?? ''
  })
  afterAll(async () => {
    await running.child.stop()
    directory.remove()
  })

  it('count requests by route template, status and media type, whatever the paths are', () => {
    const count = (route: string, status: number, type: string) =>
      sampleOf(text, `marquee_http_requests_total{route="${route}",status="${status}",type="${type}"}`)
    expect(count('/api/events/{id}', 200, 'application/json')).toBe(1)
    expect(count('/api/events/{id}', 200, 'text/xml')).toBe(2)
    expect(count('/api/events/{id}', 400, 'application/problem+json')).toBe(1)
    expect(count('/api/events/{id}', 204, 'none')).toBe(1)
    expect(count('/api/events/{id}/venue', 404, 'application/problem+json')).toBe(1)
    expect(count('/api/venues/{id}', 404, 'application/problem+json')).toBe(1)
    expect(count('other', 404, 'application/problem+json')).toBe(2)
    expect(count('/', 200, 'text/html')).toBe(1)
    expect(count('/api/openapi.json', 200, 'application/openapi+json')).toBe(1)
    expect(sampleOf(text, 'marquee_http_request_duration_seconds_count')).toBe(11)
  })

  it('tell what is held, how old it is, and how the reads of the CRM went', () => {
    expect(sampleOf(text, 'marquee_ready')).toBe(1)
    expect(sampleOf(text, 'marquee_records{list="events",state="served"}')).toBe(1)
    expect(sampleOf(text, 'marquee_withheld_records{list="events",reason="unreadable"}')).toBe(1)
    expect(sampleOf(text, 'marquee_data_age_seconds{list="events",age="confirmed"}')).toBeLessThan(30)
    expect(sampleOf(text, 'marquee_refreshes_total{list="events",outcome="ok"}')).toBeGreaterThan(0)
    expect(sampleOf(text, 'marquee_refreshes_total{list="events",outcome="unreachable"}')).toBe(0)
    expect(sampleOf(text, 'marquee_crm_requests_total{outcome="ok"}')).toBeGreaterThan(1)
    expect(sampleOf(text, 'marquee_shrink_guard_engaged{list="venues"}')).toBe(0)
    expect(sampleOf(text, 'marquee_publish_delay_seconds_count')).toBe(0)
    expect(sampleOf(text, 'process_resident_memory_bytes')).toBeGreaterThan(1e7)
  })

  it('tell how long a change took to be served, from the time its file was written', async () => {
    directory.write('events', JSON.stringify([{ ...EVENT, Price: '2' }, WITHHELD]))
    await eventually(
      async () => {
        text = (await askOperations(`${running.listening.operations ?? ''}metrics`))?.text ?? ''
        return sampleOf(text, 'marquee_publish_delay_seconds_count')
      },
      (count) => count === 1,
    )
    const seconds = sampleOf(text, 'marquee_publish_delay_seconds_sum')
    expect(seconds).toBeGreaterThan(0)
    expect(seconds).toBeLessThan(30)
  })

  it.skipIf(PROMTOOL === null)('are what promtool has nothing against', () => {
    const { status, stdout, stderr } = spawnSync(PROMTOOL ?? '', ['check', 'metrics'], {
      input: text,
      encoding: 'utf8',
    })
    expect([status, stdout, stderr]).toEqual([0, '', ''])
  })

  it('are those of docs/metrics.md, no more and no fewer, with their types and labels', () => {
    const [page = ''] = readFileSync(join(ROOT, 'docs/metrics.md'), 'utf8').split('\n## In a cluster')
    const rows = page.split('\n').flatMap((line) => {
      const [, name, type, labels] = /^\| `(\w+)` \| (\w+) \|([^|]*)\|/.exec(line) ?? []
      return name === undefined ? [] : [`${name} ${type ?? ''} ${(labels ?? '').replaceAll(/[`\s]/g, '')}`]
    })
    const described = exposed(text).map(({ name, type, labels }) => `${name} ${type} ${labels.join(',')}`)
    // These have a series only once something was found.
    const columns = 'marquee_drift_columns_total counter list,column'
    expect(rows.toSorted()).toEqual(
      described.map((row) => (row.startsWith('marquee_drift_columns_total') ? columns : row)).toSorted(),
    )
  })

  it('hold no CRM value, and the log neither; the trace id of a caller is in its request line', () => {
    expect(text).not.toContain(SECRET)
    expect(running.child.stdout + running.child.stderr).not.toContain(SECRET)
    const lines = running.child.stdout.split('\n').filter((line) => line.includes('"event":"request-answered"'))
    expect(lines).toHaveLength(11)
    const traced = lines.filter((line) => line.includes('traceId')).map((line) => JSON.parse(line) as unknown)
    expect(traced).toMatchObject([{ traceId: 'a'.repeat(32), route: '/api/venues/{id}', status: 404, method: 'GET' }])
  })
})
