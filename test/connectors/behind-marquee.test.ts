import { describe, expect, it } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runCommand } from '../commands/run-command.ts'
import { WorkFolder } from '../commands/work-folder.ts'
import { ROOT } from '../support/child.ts'
import { RUNTIMES } from '../support/depth.ts'
import { eventually } from '../support/eventually.ts'
import { type MarqueeProcess, serve } from '../support/marquee-process.ts'

const MAX_AGE_S = 6
const VENUE_ID = 'b1d9e0c7-42fa-4a8e-8c3d-6e5f70812a9b'
const VENUE = {
  Id: VENUE_ID,
  Name: ' Guildhall & <Annexe> ',
  AddressStreet1: '1 High Street',
  AddressStreet2: '',
  AddressStreet3: null,
  AddressCity: 'Bath',
  AddressPostalCode: 'BA1 5AW',
  AddressState: null,
  AddressCountry: 'United Kingdom',
  Longitude: '-2.3590',
  Latitude: '51.38',
  Telephone: '01225 477000',
  Description: 'Two halls.\nOne bar.',
  Website: 'https://guildhall.example.org/',
  Active: true,
}
/** More than a page. */
const COUNT = 230
const idOf = (number: number): string => `5f6c2a3e-8d0b-4c57-9e21-${String(number).padStart(12, '0')}`
const EVENTS = Array.from({ length: COUNT }, (_, number) => ({
  Id: idOf(number),
  Name: `Dinner ${number}`,
  VenueId: VENUE_ID as string | null,
  TicketCapacity: 250,
  TicketsAvailable: 42,
  Start: '2036-07-12T19:30:00+01:00',
  Finish: '2036-07-12T23:00:00+01:00',
  Price: '12.50',
  Tags: ['Dinner; dance', ''],
  Active: true,
  ShowOnWeb: true,
}))
const [PAST, BARE, LAST] = [idOf(0), idOf(1), idOf(COUNT - 1)]
Object.assign(EVENTS[0] ?? {}, { Start: '2014-01-22T19:30:00.1234567+00:00', Finish: '2014-01-22T23:00:00+00:00' })
Object.assign(EVENTS[1] ?? {}, { Name: null, VenueId: null, Price: '10', TicketCapacity: 2_147_483_647, Tags: [] })

const LISTEN = 'operations: null\nlisten: { port: 0, basePath: /whats-on }\n'
const UPSTREAM = `${LISTEN}timeZone: Europe/London
lists: on
freshness: { maxAge: 10m, refreshEvery: 300ms }
crm: { kind: files, directory: ./crm }
`

/** The configuration that docs/instances.md and `init` give, with shorter times. */
async function configurationBehind({ port }: MarqueeProcess, folder: WorkFolder): Promise<string> {
  await runCommand(['init', 'http', '--preset', 'marquee'], { cwd: folder.path })
  const preset = readFileSync(folder.at('marquee.yaml'), 'utf8')
  const page = readFileSync(join(ROOT, 'docs/instances.md'), 'utf8')
  const [, general = ''] = /## Other regions[^]*?```yaml\n([^]*?)```/.exec(page) ?? []
  const [, crm = ''] = /^(crm:\n[^]*)$/m.exec(preset) ?? []
  const times = general.replace('maxAge: 30s, refreshEvery: 5s', `maxAge: ${MAX_AGE_S}s, refreshEvery: 500ms`)
  expect(times).not.toBe(general)
  return `${LISTEN}${times}${crm.replace('https://events.example.org ', `http://127.0.0.1:${port}/whats-on `)}`
}

interface Answered {
  readonly status: number
  readonly ageS: number
  readonly body: string
}

async function ask({ port }: MarqueeProcess, path: string, accept = 'application/json'): Promise<Answered> {
  const answer = await fetch(`http://127.0.0.1:${port}/whats-on/api/${path}`, { headers: { accept } })
  return { status: answer.status, ageS: Number(answer.headers.get('age') ?? Number.NaN), body: await answer.text() }
}

describe.each(RUNTIMES)('Marquee behind Marquee, on %s', (runtime) => {
  it('shows the same bytes and each change, counts the age from the CRM, and answers 502 past the maximum age', async () => {
    using folder = new WorkFolder({
      'crm/events.json': JSON.stringify(EVENTS),
      'crm/venues.json': JSON.stringify([VENUE]),
      'upstream.yaml': UPSTREAM,
    })
    const upstream = await serve(runtime, folder.at('upstream.yaml'))
    const event = `events/${LAST}`
    await eventually(
      () => ask(upstream, `${event}/venue`),
      ({ status }) => status === 200,
    )
    folder.write('behind.yaml', await configurationBehind(upstream, folder))
    const behind = await serve(runtime, folder.at('behind.yaml'))
    const untilStatus = (path: string, expected: number): Promise<Answered> =>
      eventually(
        () => ask(behind, path),
        ({ status }) => status === expected,
      )
    await untilStatus(`${event}/venue`, 200)

    const records = [event, `${event}/venue`, `events/${PAST}`, `events/${BARE}`, `venues/${VENUE_ID}`]
    // XML shows a whole price as the CRM wrote it.
    const withXml = records.filter((path) => !path.endsWith(BARE))
    for (const [types, paths] of [
      [
        ['application/json', 'application/hal+json'],
        [...records, 'events?limit=200', 'venues'],
      ],
      [['application/xml', 'application/hal+xml'], withXml],
    ] as const)
      for (const path of paths)
        for (const type of types) {
          const [here, there] = [await ask(behind, path, type), await ask(upstream, path, type)]
          expect([path, type, here.status, here.body]).toEqual([path, type, 200, there.body])
        }

    folder.write('crm/events.json', JSON.stringify(EVENTS.map((row) => ({ ...row, TicketsAvailable: 41 }))))
    await eventually(
      () => ask(behind, event),
      ({ body }) => body.includes('"TicketsAvailable":41'),
    )

    // The upstream goes on with what it has, which grows older. By its own reads alone, the other one would be young.
    folder.write('crm/events.json', '{')
    const old = await eventually(
      () => ask(upstream, event),
      ({ ageS }) => ageS >= MAX_AGE_S - 2,
    )
    const { status, ageS } = await ask(behind, event)
    expect(status === 502 || ageS >= old.ageS).toBe(true)
    await untilStatus(event, 502)
    expect([(await ask(upstream, event)).status, (await ask(behind, `venues/${VENUE_ID}`)).status]).toEqual([200, 200])

    folder.write('crm/events.json', JSON.stringify(EVENTS))
    await untilStatus(event, 200)
    await upstream.child.stop()
    for (const path of [event, `venues/${VENUE_ID}`]) {
      const until = await eventually(
        () => ask(behind, path),
        (answer) => answer.status !== 200 || answer.ageS > MAX_AGE_S,
      )
      expect(until.status).toBe(502)
    }
    await behind.child.stop()
  })
})
