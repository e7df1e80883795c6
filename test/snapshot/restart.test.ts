import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'bun:test'
import { fill, idOf, openEnvironment, eventValues } from '../dataverse/environment.ts'
import { describeWithPostgres } from '../postgres/needs-postgres.ts'
import { World } from '../postgres/world.ts'
import { changedRows, eventLine, hex, linesOf, Service, untilSaid, writeEvents } from './service.ts'

const FILES = { kind: 'files', directory: './crm' }
const OFTEN = { refreshEvery: '500ms' }

const services: Service[] = []
afterEach(() => {
  for (const service of services.splice(0)) service.remove()
})

async function serviceOf(...given: Parameters<typeof Service.create>): Promise<Service> {
  const service = await Service.create(...given)
  services.push(service)
  return service
}

const readOnly = mkdtempSync(join(tmpdir(), 'marquee-read-only-'))
const canMount = spawnSync('sh', ['-c', `mount -t tmpfs -o ro marquee-test ${readOnly} 2>/dev/null`]).status === 0
if (!canMount) console.warn('A file system cannot be mounted here: a snapshot on a read-only one is not tested.')
afterAll(() => {
  if (canMount) spawnSync('sh', ['-c', `umount -l ${readOnly}`])
  rmSync(readOnly, { recursive: true })
})

describe.each(['bun', 'node'] as const)('a restart on %s', (runtime) => {
  it.if(canMount)('is told why there will be no snapshot where the file system is read-only', async () => {
    const service = await serviceOf({
      freshness: OFTEN,
      crm: FILES,
      snapshot: { directory: join(readOnly, 'some', 'snapshot') },
    })
    writeEvents(service.folder, 10)
    const child = service.spawn(runtime)
    expect(await untilSaid(child, 'snapshot-not-written')).toMatchObject({ reason: 'the file system is read-only' })
    expect(await child.stop()).toBe(0)
  })

  it.if(canMount)('writes its snapshot where only the unfinished ones of killed processes fill the disk', async () => {
    const small = mkdtempSync(join(tmpdir(), 'marquee-small-'))
    spawnSync('sh', ['-c', `mount -t tmpfs -o size=1m,mode=700 marquee-test ${small}`])
    try {
      const directory = join(small, 'snapshot')
      mkdirSync(directory, { mode: 0o700 })
      const unfinished = join(directory, '0123456789ab.snapshot.00000000-0000-4000-8000-000000000000')
      expect(() => writeFileSync(unfinished, Buffer.alloc(2 * 1024 * 1024))).toThrow('ENOSPC')
      const anHourAgo = new Date(Date.now() - 3_600_000)
      utimesSync(unfinished, anHourAgo, anHourAgo)
      const service = await serviceOf({ freshness: OFTEN, crm: FILES, snapshot: { directory } })
      writeEvents(service.folder, 2000)
      const child = service.spawn(runtime)
      expect(await untilSaid(child, 'snapshot-written')).toMatchObject({ rows: 2001 })
      expect(await child.stop()).toBe(0)
      expect(existsSync(unfinished)).toBe(false)
    } finally {
      spawnSync('sh', ['-c', `umount -l ${small}`])
      rmSync(small, { recursive: true })
    }
  })

  it('goes on from its snapshot where a file of 20,000 rows is what it was, and reads what was added to it', async () => {
    const service = await serviceOf({ freshness: OFTEN, crm: FILES })
    writeEvents(service.folder, 20_000)
    const first = service.spawn(runtime)
    const cold = await service.untilAnswered(`/api/events/${hex(14_000)}`)
    await untilSaid(first, 'snapshot-written')
    expect(await first.stop()).toBe(0)
    expect(changedRows(first)).toBe(20_001)

    const second = service.spawn(runtime)
    const warm = await service.untilAnswered(`/api/events/${hex(14_000)}`)
    expect(warm.body).toBe(cold.body)
    console.log(`${runtime}: 20,000 rows of NDJSON: ${cold.ms.toFixed()} ms, from the snapshot ${warm.ms.toFixed()} ms`)
    expect(await second.stop()).toBe(0)
    expect(changedRows(second)).toBe(0)
    expect(await untilSaid(second, 'snapshot-read')).toMatchObject({ rows: 20_001 })

    appendFileSync(join(service.folder, 'crm', 'events.ndjson'), eventLine(20_001, 'Added'))
    const third = service.spawn(runtime)
    const { body } = await service.untilAnswered(`/api/events/${hex(20_001)}`)
    expect(body).toContain('Added')
    await third.stop()
    expect(changedRows(third)).toBe(1)
  })

  it('goes on with the old lists and their age where the CRM fails and staleIfError is set, and with 502 where it is not', async () => {
    const freshness = { maxAge: '1s', refreshEvery: '300ms' }
    const service = await serviceOf({ freshness, crm: FILES })
    writeEvents(service.folder, 10)
    const first = service.spawn(runtime)
    await service.untilAnswered(`/api/events/${hex(1)}`)
    await untilSaid(first, 'snapshot-written')
    expect(await first.stop()).toBe(0)
    const writtenMs = service.writtenMs
    rmSync(join(service.folder, 'crm', 'events.ndjson'))
    await Bun.sleep(1100)

    for (const staleIfError of ['12h', '0s']) {
      service.configure({ freshness: { ...freshness, staleIfError }, crm: FILES })
      const child = service.spawn(runtime)
      await untilSaid(child, 'listening')
      const { status, headers } = await service.untilNot(`/api/events/${hex(1)}`, 0)
      expect([staleIfError, status]).toEqual([staleIfError, staleIfError === '0s' ? 502 : 200])
      if (status === 200) {
        const ageMs = Number(headers.get('age')) * 1000
        expect(ageMs).toBeGreaterThan(1000)
        expect(ageMs).toBeLessThan(Date.now() - writtenMs + 10_000)
        expect(headers.get('cache-control')).toBe('public, max-age=0')
      }
      expect(await child.stop()).toBe(0)
    }
  })

  it('sends the JSON-LD of a free event that it sent before, though no row is mapped again', async () => {
    const feeds = { feeds: { jsonLd: 'on' }, representation: { currency: 'GBP' } }
    const service = await serviceOf({ freshness: OFTEN, crm: FILES, ...feeds })
    writeEvents(service.folder, 1)
    writeFileSync(join(service.folder, 'crm', 'events.ndjson'), eventLine(1, 'Free').replace('12.5', '0'))
    const bodies: string[] = []
    for (const event of ['snapshot-written', 'snapshot-read']) {
      const child = service.spawn(runtime)
      await service.untilAnswered(`/api/events/${hex(1)}`)
      await untilSaid(child, event)
      bodies.push((await service.ask(`/api/events/${hex(1)}`, 'application/ld+json')).body)
      expect(await child.stop()).toBe(0)
    }
    expect(bodies[0]).toContain('"isAccessibleForFree":true')
    expect(bodies[1]).toBe(bodies[0] ?? '')
  })

  it('tells what is suspicious and ignored in a file that has not changed since the snapshot', async () => {
    const service = await serviceOf({ freshness: OFTEN, crm: FILES })
    mkdirSync(join(service.folder, 'crm'))
    const plain = JSON.parse(eventLine(1, 'Odd')) as object
    const odd = { ...plain, Price: -5, Start: '2027-07-12T19:30:00', Room: 'B' }
    writeFileSync(join(service.folder, 'crm', 'events.ndjson'), `${JSON.stringify(odd)}\n${eventLine(2, 'Even')}`)
    writeFileSync(join(service.folder, 'crm', 'venues.json'), '[]')
    const before = service.spawn(runtime)
    await untilSaid(before, 'snapshot-written')
    expect(await before.stop()).toBe(0)

    const after = service.spawn(runtime)
    expect(await after.line((line) => line.includes('"event":"suspicious"') && line.includes('"Price"'))).not.toBeNull()
    expect(await untilSaid(after, 'wall-times')).toMatchObject({ count: 1 })
    expect(await untilSaid(after, 'columns-ignored')).toMatchObject({ columns: ['Room'] })
    expect(await untilSaid(after, 'snapshot-read')).toMatchObject({ rows: 2 })
    expect(await after.stop()).toBe(0)
    expect(changedRows(after)).toBe(0)
  })

  it('goes on from a snapshot of the same further fields, and from no other', async () => {
    const settings = (events: Readonly<Record<string, string>>): Readonly<Record<string, unknown>> => ({
      freshness: OFTEN,
      crm: FILES,
      representation: { further: { events } },
    })
    const service = await serviceOf(settings({ Rows: 'integer' }))
    writeEvents(service.folder, 10)
    appendFileSync(
      join(service.folder, 'crm', 'events.ndjson'),
      eventLine(11, 'Added').replace('}', ',"Rows":12,"Seats":"A"}'),
    )
    const first = service.spawn(runtime)
    await untilSaid(first, 'snapshot-written')
    await first.stop()
    for (const [further, changed, end] of [
      [{ Rows: 'integer' }, 0, '"Rows":12,"_links"'],
      [{ Rows: 'text' }, 12, '"Rows":"12","_links"'],
      [{ Rows: 'text', Seats: 'text' }, 12, '"Rows":"12","Seats":"A","_links"'],
      [{ Seats: 'text', Rows: 'text' }, 12, '"Seats":"A","Rows":"12","_links"'],
      [{}, 12, '"Tags":["Music","Jazz"],"_links"'],
    ] as const) {
      service.configure(settings(further))
      const child = service.spawn(runtime)
      const { body } = await service.untilAnswered(`/api/events/${hex(11)}`)
      expect(body).toContain(end)
      await child.stop()
      expect([further, changedRows(child)]).toEqual([further, changed])
    }
  })

  it('after a kill in the midst of writing goes on from the snapshot before, or reads in full', async () => {
    const service = await serviceOf({ freshness: OFTEN, crm: FILES })
    writeEvents(service.folder, 20_000)
    const found = new Set<string>()
    for (let round = 0; round < 4; round++) {
      const child = service.spawn(runtime)
      const written = service.writtenMs
      // Looked at all the time, because the writing is short; on a loaded machine it may be over unseen.
      while (!service.isWriting && service.writtenMs === written) await new Promise((resolve) => setTimeout(resolve, 1))
      child.signal('SIGKILL')
      await child.exited
      const next = service.spawn(runtime)
      const { body } = await service.untilAnswered(`/api/events/${hex(round + 1)}`)
      expect(body).toContain(`Event ${round + 1}`)
      await untilSaid(next, 'listening')
      next.signal('SIGKILL')
      await next.exited
      for (const { event } of linesOf(next)) found.add(event)
      expect(linesOf(next).filter(({ event }) => event === 'snapshot-ignored')).toEqual([])
      // So the next one has something to write.
      appendFileSync(join(service.folder, 'crm', 'events.ndjson'), eventLine(30_000 + round, 'Added'))
      const more = Array.from({ length: 3000 }, (_, index) => eventLine(100_001 + round * 3000 + index, 'More'))
      appendFileSync(join(service.folder, 'crm', 'events.ndjson'), more.join(''))
    }
  })

  it('says once that no file may be so large, serves on, and leaves nothing behind', async () => {
    const service = await serviceOf({ freshness: OFTEN, crm: FILES })
    writeEvents(service.folder, 20_000)
    // In blocks of 512 or 1024 bytes, as the shell has it.
    const child = service.spawn(runtime, "trap '' XFSZ; ulimit -f 100")
    await service.untilAnswered(`/api/events/${hex(1)}`)
    expect(await untilSaid(child, 'snapshot-not-written')).toMatchObject({
      reason: 'it exceeds the largest file allowed here (ulimit -f)',
    })
    await service.untilAnswered(`/api/events/${hex(2)}`)
    expect(await child.stop()).toBe(0)
    expect(linesOf(child).filter(({ event }) => event === 'snapshot-not-written')).toHaveLength(1)
    expect(service.files).toEqual([])
  })

  it('keeps its snapshot where systemd says, for its user alone; with snapshot: null it keeps none and loads nothing of it', async () => {
    const service = await serviceOf({ freshness: OFTEN, crm: FILES })
    writeEvents(service.folder, 100)
    const state = join(service.folder, 'state')
    mkdirSync(state, { mode: 0o700 })
    const child = service.spawn(runtime, `export STATE_DIRECTORY=${state}`)
    await untilSaid(child, 'snapshot-written')
    await child.stop()
    expect(statSync(state).mode & 0o777).toBe(0o700)
    expect(service.files).toEqual([])
    service.configure({ freshness: OFTEN, crm: FILES, snapshot: null })
    const without = service.spawn(runtime)
    await service.untilAnswered(`/api/events/${hex(1)}`)
    await without.stop()
    expect([service.files, linesOf(without).filter(({ event }) => event.startsWith('snapshot'))]).toEqual([[], []])
  })

  it('of a Dataverse of 10,000 rows asks for what changed since, and shows it', async () => {
    const environment = await openEnvironment()
    fill(environment, 10_000)
    const { origin: url, directory } = environment.standIn
    const { tenant, clientId, secret } = directory
    const crm = { kind: 'dataverse', url, authority: url, tenant, clientId, clientSecret: { env: 'SECRET' } }
    const service = await serviceOf({ crm }, { SECRET: secret })
    const first = service.spawn(runtime)
    const cold = await service.untilAnswered(`/api/events/${idOf(8000)}`)
    await untilSaid(first, 'snapshot-written')
    await first.stop()

    environment.events.change(idOf(7), { msevtmgt_name: 'Changed' })
    environment.events.remove(idOf(8))
    environment.events.put(idOf(60_000), eventValues(60_000))
    const before = environment.standIn.reads.length
    const second = service.spawn(runtime)
    const warm = await service.untilAnswered(`/api/events/${idOf(60_000)}`)
    expect((await service.ask(`/api/events/${idOf(7)}`)).body).toContain('Changed')
    expect((await service.ask(`/api/events/${idOf(8)}`)).status).toBe(404)
    expect((await service.ask(`/api/events/${idOf(8000)}`)).body).toBe(cold.body)
    const asked = environment.standIn.reads.slice(before)
    console.log(
      `${runtime}: 10,000 rows of Dataverse: ${cold.ms.toFixed()} ms, from the snapshot ${warm.ms.toFixed()} ms`,
    )
    expect(asked.length).toBeGreaterThan(0)
    expect(asked.filter(({ path }) => !path.includes('deltatoken'))).toEqual([])
    await second.stop()
    environment.standIn.close()
  })
})

describeWithPostgres('a restart before PostgreSQL', () => {
  it.each(['bun', 'node'] as const)('on %s reads of 20,000 rows what changed since, and shows it', async (runtime) => {
    const world = await World.create({}, 20_000)
    const crm = {
      kind: 'postgres',
      url: { env: 'DATABASE_URL' },
      events: { from: 'crm.public_events' },
      venues: { from: 'crm.public_venues' },
    }
    const service = await serviceOf({ crm }, { DATABASE_URL: world.url })
    const first = service.spawn(runtime)
    const cold = await service.untilAnswered(`/api/events/${hex(14_000)}`)
    await untilSaid(first, 'snapshot-written')
    await first.stop()

    await world.query('UPDATE crm.event SET title = $1 WHERE event_id = $2', ['Changed', hex(7)])
    await world.query('DELETE FROM crm.event WHERE event_id = $1', [hex(8)])
    const second = service.spawn(runtime)
    const warm = await service.untilAnswered(`/api/events/${hex(14_000)}`)
    expect(warm.body).toBe(cold.body)
    expect((await service.ask(`/api/events/${hex(7)}`)).body).toContain('Changed')
    expect((await service.ask(`/api/events/${hex(8)}`)).status).toBe(404)
    console.log(
      `${runtime}: 20,000 rows of PostgreSQL: ${cold.ms.toFixed()} ms, from the snapshot ${warm.ms.toFixed()} ms`,
    )
    await second.stop()
    expect(changedRows(second)).toBeLessThanOrEqual(2)
    // All of them were read by the first one, and few by the second.
    const isSuspicious = ({ event }: { readonly event: string }): boolean => event === 'suspicious'
    expect([linesOf(first).some(isSuspicious), linesOf(second).some(isSuspicious)]).toEqual([true, false])
    await world.remove()
  })
})
