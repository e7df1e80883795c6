import { ListMaker } from '../../src/records/row-records.ts'
import { afterEach, beforeEach, describe, expect, it } from 'bun:test'
import { appendFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseGuid } from '../../src/domain/guid.ts'
import { openZone } from '../../src/domain/zone.ts'
import { openFilesCrm } from '../../src/crm/files/files-crm.ts'
import type { Attempt } from '../../src/sync/poller.ts'
import { mayAnswer } from '../../src/operations/status.ts'
import { type ReplicaOptions, Replica } from '../../src/sync/replica.ts'
import type { Time } from '../../src/time/time.ts'
import { Service, untilSaid } from '../snapshot/service.ts'
import { formatter } from '../model/records.ts'
import type { Child } from '../support/child.ts'
import { eventually } from '../support/eventually.ts'
import { RUNTIMES } from '../support/depth.ts'

const utc = openZone('UTC')
if (utc === null) throw new Error('the runtime has no zones')
const zone = utc

const MAX_AGE_MS = 30_000
/** As many events as the shrink guard looks at. */
const MANY = 24
const hex = (number: number): string => `5f6c2a3e-8d0b-4c57-9e21-0a4b7d9c1e${number.toString(16).padStart(2, '0')}`
const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index + 1)

const FORMATS = {
  csv: {
    header: 'Id,Start,Finish,ShowOnWeb,Name,Price\n',
    row: (number: number, price = '1234.50'): string =>
      `${hex(number)},2036-07-12T19:30Z,2036-07-12T23:00Z,yes,Gala,${price}\n`,
  },
  ndjson: {
    header: '',
    row: (number: number, price = '1234.50'): string =>
      `{"Id":"${hex(number)}","Start":"2036-07-12T19:30Z","Finish":"2036-07-12T23:00Z","ShowOnWeb":true,"Name":"Gala","Price":${price}}\n`,
  },
} as const
type Format = keyof typeof FORMATS

let directory = ''
let nowMs = 0
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'marquee-half-'))
  nowMs = 1000
  aheadMs = HOUR_MS
  startMs = Date.now()
  writeFileSync(join(directory, 'venues.json'), '[]')
})
afterEach(() => rmSync(directory, { recursive: true }))

const HOUR_MS = 3_600_000
/** How far the wall clock is ahead of the machine's. */
let aheadMs = HOUR_MS
let startMs = 0
/** Stands still, an hour from now: no file has just been written. Nothing is read by itself. */
const time: Time = {
  now: () => ({ monotonicMs: nowMs, wallMs: startMs + aheadMs + nowMs }),
  after: () => () => {},
  random: () => 0.5,
}

function open(before: Partial<Pick<ReplicaOptions, 'lists' | 'resumeState'>> = {}): Replica {
  const plain = { block: null, texts: null }
  const shared = { kind: 'files', timeZone: zone, idNamespace: null, events: plain, venues: plain } as const
  const limits = { requestTimeoutMs: 10_000, maxAgeMs: MAX_AGE_MS, memoryBytes: 2e9 }
  const crm = openFilesCrm({ ...shared, directory }, { showIn: zone, time, observe: () => {}, limits: () => limits })
  const settings = { refreshEveryMs: 5000, fullReadEveryMs: 900_000, staleIfErrorMs: 0, shrinkGuardMs: 86_400_000 }
  const replica = new Replica({
    lists: new ListMaker(formatter).make(),
    ...before,
    crm,
    settings: () => ({ ...settings, maxAgeMs: MAX_AGE_MS }),
    limits: () => limits,
    time,
    observe: () => {},
    pause: () => Promise.resolve(),
  })
  replica.start()
  return replica
}

class Scene {
  readonly replica: Replica
  readonly format: Format
  readonly path: string

  constructor(format: Format, replica: Replica = open()) {
    this.replica = replica
    this.format = format
    this.path = join(directory, `events.${format}`)
  }

  /** The text of a list of so many events, with a price for all. */
  text(count: number, price?: string): string {
    const { header, row } = FORMATS[this.format]
    return (
      header +
      numbers(count)
        .map((number) => row(number, price))
        .join('')
    )
  }

  /** Looks after so many ms. */
  look(afterMs = 0): Promise<Attempt> {
    nowMs += afterMs
    return this.replica.events.refresh.attempt()
  }

  /** Looks now, and what is served. */
  async seen(afterMs = 0): Promise<readonly [string, number, string | null]> {
    const attempt = await this.look(afterMs)
    return [attempt.ok ? 'ok' : attempt.failure.kind, this.count, this.price(1)]
  }

  get count(): number {
    return this.replica.events.list.served
  }

  price(number: number): string | null {
    const id = parseGuid(hex(number))
    return id === null ? null : (this.replica.events.list.get(id)?.Price ?? null)
  }

  get ageMs(): number | null {
    return this.replica.events.ageMs(time.now())
  }

  /** Writes in place. */
  write(text: string): void {
    writeFileSync(this.path, text)
  }

  rename(text: string): void {
    writeFileSync(`${this.path}.next`, text)
    renameSync(`${this.path}.next`, this.path)
  }
}

/** A service that has read 5 events. */
async function scene(format: Format, count = 5): Promise<Scene> {
  const made = new Scene(format)
  made.write(made.text(count))
  await made.replica.venues.refresh.attempt()
  expect(await made.look()).toEqual({ ok: true })
  expect(made.count).toBe(count)
  return made
}

/** A process that takes over 5 events, after the file was written in place so many ms ago. */
async function takenOver(format: Format, textOf: (text: Scene['text']) => string, agoMs: number): Promise<Scene> {
  const before = await scene(format)
  // Both number their reads from 1, and share the rows: let the numbers differ.
  for (let reads = 1; reads < 10; reads++) {
    before.rename(before.text(5))
    await before.look(1000)
  }
  const { events, venues } = before.replica
  const resumeState = {
    asOf: time.now(),
    isLoaded: true,
    cursor: null,
    served: 5,
    withheld: 0,
    unidentified: [],
    shrunk: null,
    lost: 0,
    readsPrice: false,
    accepting: false,
    failure: null,
    failures: 0,
    isLeftBehind: false,
  }
  before.write(textOf((count, price) => before.text(count, price)))
  nowMs += 1000
  startMs = statSync(before.path).ctimeMs
  aheadMs = agoMs - nowMs
  const { lists } = before.replica
  return new Scene(
    format,
    open({
      lists,
      resumeState: {
        events: { ...resumeState, freshness: events.freshness },
        venues: { ...resumeState, freshness: venues.freshness },
      },
    }),
  )
}

describe.each(['csv', 'ndjson'] as const)('a half-written file (%s)', (format) => {
  it('is not believed while its last line has no end: the list stays as it is, at its age, without a back-off', async () => {
    const files = await scene(format)
    files.write(files.text(5, '99').slice(0, -12))
    expect(await files.seen(5000)).toEqual(['waiting', 5, '1234.50'])
    const { events } = files.replica
    expect(files.ageMs).toBe(5000)
    expect([events.refresh.failures, events.isFailing, events.isBackingOff]).toEqual([0, false, false])
    expect(events.lastFailure?.message).toBe(
      `events.${format} may be half-written: its last line is incomplete; Marquee waits until it has not changed for 15 s; a file that is renamed into place is read at once`,
    )
  })

  it('is believed at once if it was renamed into place and its last line has an end', async () => {
    const files = await scene(format)
    files.rename(files.text(3))
    expect(await files.seen(5000)).toEqual(['ok', 3, '1234.50'])
  })

  it('is believed at once if every id that is served is there and its last line has an end', async () => {
    const files = await scene(format)
    files.write(files.text(6, '99'))
    expect(await files.seen(5000)).toEqual(['ok', 6, '99'])
    expect(files.ageMs).toBe(0)
  })

  it('is believed once its size and time have stood still for half the maximum age', async () => {
    const files = await scene(format)
    files.write(files.text(4, '99'))
    expect(await files.seen(5000)).toEqual(['waiting', 5, '1234.50'])
    expect(files.replica.events.lastFailure?.message).toContain('it lacks some of the events that are served')
    expect(await files.seen(14_999)).toEqual(['waiting', 5, '1234.50'])
    expect(await files.seen(1)).toEqual(['ok', 4, '99'])
    expect(files.replica.events.lastFailure).toBeNull()
  })

  it('begins to wait again with each change, and changes nothing meanwhile, even past the maximum age', async () => {
    const files = await scene(format)
    const [first = '', ...more] = files.text(5, '99').split(/(?<=\n)/)
    files.write(first)
    if (format === 'csv') appendFileSync(files.path, more.shift() ?? '')
    expect(await files.seen(10_000)).toEqual(['waiting', 5, '1234.50'])
    appendFileSync(files.path, more.shift() ?? '')
    expect(await files.seen(10_000)).toEqual(['waiting', 5, '1234.50'])
    appendFileSync(files.path, (more.shift() ?? '').slice(0, -8))
    expect(await files.seen(14_000)).toEqual(['waiting', 5, '1234.50'])
    expect(files.replica.events.lastFailure?.message).toContain('a file that is renamed into place is read at once')
    // It stood still: the last line is one like any other, and broken.
    expect(await files.seen(14_999)).toEqual(['waiting', 5, '1234.50'])
    expect(await files.seen(1)).toEqual(format === 'csv' ? ['broken', 5, '1234.50'] : ['shrunk', 5, '99'])
    expect(files.ageMs).toBe(49_000)
  })

  it('waits while the shrink guard serves the old list past the maximum age, which a repair in place would otherwise cut', async () => {
    const files = await scene(format, MANY)
    files.rename(files.text(5))
    expect(await files.seen(5000)).toEqual(['shrunk', MANY, '1234.50'])
    expect(await files.seen(60_000)).toEqual(['shrunk', MANY, '1234.50'])
    // More than half of the list: the guard would believe it.
    files.write(files.text(16, '99').slice(0, -12))
    expect(await files.seen(5000)).toEqual(['waiting', MANY, '1234.50'])
    appendFileSync(files.path, files.text(MANY, '99').slice(files.text(16, '99').length - 12, -12))
    expect(await files.seen(5000)).toEqual(['waiting', MANY, '1234.50'])
    appendFileSync(files.path, files.text(MANY, '99').slice(-12))
    expect(await files.seen(5000)).toEqual(['ok', MANY, '99'])
    expect(files.ageMs).toBe(0)
  })

  it('adds the row of a last line without an end once the list is believed', async () => {
    const files = await scene(format)
    files.write(files.text(6, '99').slice(0, -1))
    expect(await files.seen(5000)).toEqual(['waiting', 5, '1234.50'])
    expect(await files.seen(15_000)).toEqual(['ok', 6, '99'])
    expect([files.price(6), files.replica.events.list.withheld]).toEqual(['99', 0])
  })

  it('does not count as broken while it ends within a character', async () => {
    const files = await scene(format)
    const bytes = Buffer.from(files.text(5, '99').replaceAll('Gala', 'Galá').slice(0, -1) + 'á')
    writeFileSync(files.path, bytes.subarray(0, -1))
    expect(await files.seen(5000)).toEqual(['waiting', 5, '1234.50'])
    expect(await files.seen(15_000)).toEqual(['broken', 5, '1234.50'])
  })

  it('waits after a file was missing, of which there is no inode to compare', async () => {
    const files = await scene(format)
    renameSync(files.path, `${files.path}.away`)
    expect(await files.seen(1000)).toEqual(['unreachable', 5, '1234.50'])
    files.write(files.text(3))
    expect(await files.seen(1000)).toEqual(['waiting', 5, '1234.50'])
    files.rename(files.text(3))
    expect(await files.seen(1000)).toEqual(['ok', 3, '1234.50'])
  })

  it('is believed at once if it takes the place of an empty one', async () => {
    const files = await scene(format)
    files.write('')
    expect(await files.seen(1000)).toEqual(['broken', 5, '1234.50'])
    files.rename(files.text(3))
    expect(await files.seen(1000)).toEqual(['ok', 3, '1234.50'])
  })

  it('is believed whole by a process that has nothing to serve yet', async () => {
    const files = new Scene(format)
    files.write(files.text(2) + files.text(5).slice(files.text(2).length, -1))
    expect(await files.seen()).toEqual(['ok', 5, '1234.50'])
    // Nor is it in doubt later.
    expect(await files.seen(5000)).toEqual(['ok', 5, '1234.50'])
  })

  it('waits in a process that takes the lists over from another', async () => {
    const files = await takenOver(format, (text) => text(4, '99').slice(0, -3), 0)
    expect(await files.seen(5000)).toEqual(['waiting', 5, '1234.50'])
    expect(files.ageMs).toBe(6000)
  })

  it('is believed at once by a process that starts, if it was last written long enough ago', async () => {
    const files = await takenOver(format, (text) => text(4, '99'), 16_000)
    expect(await files.seen()).toEqual(['ok', 4, '99'])
  })

  it('waits only for the rest in a process that starts', async () => {
    const files = await takenOver(format, (text) => text(4, '99'), 10_000)
    expect(await files.seen()).toEqual(['waiting', 5, '1234.50'])
    expect(await files.seen(6000)).toEqual(['ok', 4, '99'])
  })

  it('waits in full in a process that starts, if its time is in the future', async () => {
    const files = await takenOver(format, (text) => text(4, '99'), -60_000)
    expect(await files.seen()).toEqual(['waiting', 5, '1234.50'])
    expect(await files.seen(14_999)).toEqual(['waiting', 5, '1234.50'])
    expect(await files.seen(1)).toEqual(['ok', 4, '99'])
  })

  it('is waited for past the maximum age with answers from the old list, if staleIfError allows them', async () => {
    const files = await scene(format)
    files.write(files.text(4, '99').slice(0, -3))
    await files.look(MAX_AGE_MS + 1000)
    const settings = { refreshEveryMs: 5000, fullReadEveryMs: 900_000, maxAgeMs: MAX_AGE_MS, shrinkGuardMs: null }
    const answers = (staleIfErrorMs: number): boolean =>
      mayAnswer(files.replica.events, { ...settings, staleIfErrorMs }, time.now())
    expect([answers(0), answers(500), answers(3_600_000)]).toEqual([false, false, true])
  })

  it('has to have a whole line before its whole lines are a list', async () => {
    const files = await scene(format)
    files.write(format === 'csv' ? 'Id,Name' : '{')
    expect(await files.seen(29_000)).toEqual(['waiting', 5, '1234.50'])
    expect(await files.seen(2000)).toEqual(['waiting', 5, '1234.50'])
    expect(await files.seen(13_000)).toEqual(format === 'csv' ? ['shrunk', 5, '1234.50'] : ['broken', 5, '1234.50'])
  })

  it('that is too large to be held back changes nothing either', async () => {
    const files = await scene(format)
    // Blank lines count for nothing but the size.
    const large = (count: number, price: string): string =>
      files.text(count, price).replace('\n', `\n${`${' '.repeat(999)}\n`.repeat(9 * 1024)}`)
    files.write(large(3, '99') + FORMATS[format].row(4, '99').slice(0, -4))
    expect(await files.seen(5000)).toEqual(['waiting', 5, '1234.50'])
    files.write(large(3, '98'))
    expect(await files.seen(5000)).toEqual(['waiting', 5, '1234.50'])
    expect(await files.seen(15_000)).toEqual(['ok', 3, '98'])
    files.write(large(4, '97'))
    expect(await files.seen(5000)).toEqual(['ok', 4, '97'])
  })

  it('of venues has the events wait that point at what may be in it', async () => {
    const files = await scene(format)
    const venues = join(directory, `venues.${format}`)
    rmSync(join(directory, 'venues.json'))
    const venue = (number: number): string =>
      format === 'csv' ? `${hex(number)},Hall\n` : `${JSON.stringify({ Id: hex(number), Name: 'Hall' })}\n`
    const header = format === 'csv' ? 'Id,Name\n' : ''
    writeFileSync(venues, header + venue(100))
    expect(await files.replica.venues.refresh.attempt()).toEqual({ ok: true })
    nowMs += 5000
    writeFileSync(venues, (header + venue(100) + venue(101)).slice(0, -3))
    files.rename(
      format === 'csv'
        ? files
            .text(5, '99')
            .replaceAll(',yes', `,yes,${hex(101)}`)
            .replace('ShowOnWeb', 'ShowOnWeb,VenueId')
        : files.text(5, '99').replaceAll('"Start"', `"VenueId":"${hex(101)}","Start"`),
    )
    expect(await files.seen()).toEqual(['waiting', 5, '1234.50'])
    expect(files.replica.events.lastFailure?.message).toStartWith(
      `the venues that events refer to: venues.${format} may be half-written`,
    )
    writeFileSync(venues, header + venue(100) + venue(101))
    expect(await files.seen(5000)).toEqual(['ok', 5, '99'])
    expect(files.replica.venues.list.served).toBe(2)
  })
})

describe('a half-written file', () => {
  it('in CSV is not a list as long as a quote is open from a line above the last one', async () => {
    const files = await scene('csv')
    const [header = '', ...rows] = files.text(5, '99').split(/(?<=\n)/)
    files.write([header, rows[0], rows[1]?.replace('Gala', '"Gala'), ...rows.slice(2)].join(''))
    expect(await files.seen(29_000)).toEqual(['waiting', 5, '1234.50'])
    expect(await files.seen(14_999)).toEqual(['waiting', 5, '1234.50'])
    expect(await files.seen(1)).toEqual(['broken', 5, '1234.50'])
  })

  it('in CSV that stays cut is said to end within a row', async () => {
    const files = await scene('csv')
    files.write(files.text(5, '99').slice(0, -12))
    expect(await files.seen(5000)).toEqual(['waiting', 5, '1234.50'])
    expect(await files.seen(15_000)).toEqual(['broken', 5, '1234.50'])
    expect(files.replica.events.lastFailure?.message).toBe(
      'events.csv, line 6: the row has 4 cells, but the header row has 6; the file ends within this row',
    )
  })

  it('in CSV waits if it ends within a quoted cell of its last line', async () => {
    const files = await scene('csv')
    files.write(`${files.text(5, '99')}${FORMATS.csv.row(6, '99').replace('Gala', '"Ga').slice(0, -4)}`)
    expect(await files.seen(14_000)).toEqual(['waiting', 5, '1234.50'])
    files.write(files.text(6, '99').replace('Gala', '"Ga\nla"'))
    expect(await files.seen(1000)).toEqual(['ok', 6, '99'])
  })

  it.each(['events.json'])('has a mark of its end in %s, and is believed at once', async (name) => {
    const files = await scene('csv')
    rmSync(files.path)
    const { row } = FORMATS.ndjson
    writeFileSync(join(directory, name), `[${row(1, '99')},${row(2, '99')},${row(3, '99')}`)
    expect(await files.seen(1000)).toEqual(['broken', 5, '1234.50'])
    writeFileSync(join(directory, name), `[${row(1, '99')},${row(2, '99')},${row(3, '99')}]`)
    expect(await files.seen(1000)).toEqual(['ok', 3, '99'])
  })
})

describe.each(RUNTIMES)('a writer in place that pauses, on %s', (runtime) => {
  it('is never seen half-way, neither by a service that runs nor by one that starts from its snapshot', async () => {
    const service = await Service.create({
      // Far more than a machine may stand still: a file is believed that has not changed for half of it.
      freshness: { maxAge: '60s', refreshEvery: '200ms' },
      crm: { kind: 'files', directory: './crm' },
    })
    mkdirSync(join(service.folder, 'crm'))
    writeFileSync(join(service.folder, 'crm', 'venues.json'), '[]')
    const path = join(service.folder, 'crm', 'events.csv')
    const textOf = (price: string): string =>
      FORMATS.csv.header +
      numbers(MANY)
        .map((number) => FORMATS.csv.row(number, price))
        .join('')
    const prices = async (): Promise<ReadonlySet<string>> => {
      const answers = await Promise.all(numbers(MANY).map((number) => service.ask(`/api/events/${hex(number)}`)))
      return new Set(answers.map(({ status, body }) => `${status} ${/"Price":([\d.]+)/.exec(body)?.[1]}`))
    }
    /** Writes half, up to within the last price, and the rest once that was noticed and asked for a while. */
    const writeSlowly = async (text: string, noticed: () => Promise<unknown>): Promise<readonly string[]> => {
      const cut = text.indexOf('\n', text.length / 2) - 3
      writeFileSync(path, text.slice(0, cut))
      await noticed()
      const seen = new Set<string>()
      for (const until = performance.now() + 700; performance.now() < until;)
        for (const one of await prices()) seen.add(one)
      appendFileSync(path, text.slice(cut))
      return [...seen]
    }
    const waits = (child: Child): Promise<unknown> =>
      child.line((line) => line.includes('events.csv may be half-written'))

    writeFileSync(path, textOf('1234.50'))
    const first = service.spawn(runtime)
    await service.untilAnswered(`/api/events/${hex(MANY)}`)
    await untilSaid(first, 'snapshot-written')
    expect(await writeSlowly(textOf('5678.50'), () => waits(first))).toEqual(['200 1234.50'])
    await eventually(prices, (seen) => seen.size === 1 && seen.has('200 5678.50'))
    expect(first.stdout).not.toContain('failed reads')
    expect(await first.stop()).toBe(0)

    let second = first
    const seen = await writeSlowly(textOf('9012.50'), async () => {
      second = service.spawn(runtime)
      await waits(second)
    })
    // The snapshot is within the maximum age, and answers meanwhile.
    expect(seen).toEqual(['200 5678.50'])
    await eventually(prices, (answers) => answers.size === 1 && answers.has('200 9012.50'))
    expect(await second.stop()).toBe(0)
    service.remove()
  })
})
