import { describe, expect, it } from 'bun:test'
import { readFileSync } from 'node:fs'
import { runCommand } from '../commands/run-command.ts'
import { WorkFolder } from '../commands/work-folder.ts'
import { RUNTIMES } from '../support/depth.ts'
import { serve } from '../support/marquee-process.ts'

const STATUSES = [
  '',
  'Abgesagt',
  'abgesagt!',
  'verlegt auf 21.02.',
  'Cancelled (illness)',
  'verlegte Premiere',
  'Neu',
  'neu',
]

/** Without prices, as many CRMs are. */
function files(fields: string, statuses: readonly string[] = STATUSES): Readonly<Record<string, string>> {
  const rows = statuses.map(
    (status, at) =>
      `${at + 1},Stück ${at + 1},2036-06-2${at}T19:30Z,2036-06-2${at}T22:00Z,Oper,${at === 0 ? 0 : 9},Oper,"${status}"`,
  )
  return {
    'Spielplan.csv': ['Nr,Titel,Beginn,Ende,Ort,Frei,Sparte,Zustand', ...rows, ''].join('\n'),
    'Orte.csv': 'Name\nOper\n',
    'marquee.yaml': `listen: { port: 0 }
operations: { port: 0 }
lists: on
feeds: { calendar: on, jsonLd: on }
representation: { currency: EUR, further: { events: { Hinweise: texts, Status: text } } }
crm:
  kind: files
  directory: .
  idNamespace: 6f1f3c0e-5f0e-4c57-8a55-0d6c1c0a7e11
  events:
    from: Spielplan.csv
    fields: { Id: Nr, Name: Titel, Start: Beginn, Finish: Ende, VenueId: Ort, TicketsAvailable: Frei, Tags: Sparte, Hinweise: null, Status: ${fields} }
    showOnWeb: null
    active: null
  venues: { from: Orte.csv, fields: { Id: Name, Name: Name }, active: null }
`,
  }
}

const VALUES = '{ column: Zustand, values: { Abgesagt: cancelled, verlegt: postponed } }'
const UNKNOWN =
  'means none of scheduled, cancelled, postponed, rescheduled, and the event counts as scheduled: say in values of Status what it means'

interface Listed {
  readonly Events: readonly { readonly Id: string; readonly Name: string; readonly Status: string | null }[]
}

describe.each(RUNTIMES)('the status of an event, read from a file, on %s', (runtime) => {
  it('check lists the words that mean none of the four, with counts', async () => {
    using folder = new WorkFolder(files('Zustand'))
    const { stdout } = await runCommand(['check', '--json'], { cwd: folder.path, runtime })
    const { suspicious } = JSON.parse(stdout) as { readonly suspicious: readonly Record<string, unknown>[] }
    const told = suspicious.filter(({ what }) => String(what).includes('means none'))
    expect(told.map(({ column, what, count }) => `${String(column)} ${String(what)}: ${String(count)}`)).toEqual([
      `Zustand with the value "Abgesagt" ${UNKNOWN}: 1`,
      `Zustand with the value "abgesagt!" ${UNKNOWN}: 1`,
      `Zustand with the value "verlegt auf 21.02." ${UNKNOWN}: 1`,
      `Zustand with the value "verlegte Premiere" ${UNKNOWN}: 1`,
      `Zustand with the value "Neu" ${UNKNOWN}: 2`,
    ])
  })

  it('a value that begins with a word counts as it, and available=true leaves out what is cancelled', async () => {
    using folder = new WorkFolder(files(VALUES))
    const { child, listening } = await serve(runtime, folder.at('marquee.yaml'))
    try {
      const get = async (path: string, accept = 'application/json'): Promise<string> =>
        (await fetch(`${listening.address}api/${path}`, { headers: { Accept: accept } })).text()
      const list = async (query: string): Promise<Listed> => JSON.parse(await get(`events?${query}`)) as Listed
      const { Events } = await list('limit=50')
      expect(Events.map(({ Status }) => Status)).toEqual([
        '',
        'cancelled',
        'cancelled',
        'postponed',
        'Cancelled (illness)',
        'verlegte Premiere',
        'Neu',
        'neu',
      ])
      expect((await list('available=true')).Events.map(({ Name }) => Name)).toEqual([
        'Stück 4',
        'Stück 6',
        'Stück 7',
        'Stück 8',
      ])
      expect((await list('available=true&tag=oper')).Events.length).toBe(4)
      expect(JSON.parse(await get('tags?available=true'))).toMatchObject({ Tags: [{ Tag: 'Oper', Count: 4 }] })
      expect((await get('events.ics?available=true')).match(/BEGIN:VEVENT/g)?.length).toBe(4)
      expect((await get('events.ics')).match(/STATUS:CANCELLED/g)?.length).toBe(3)
      const meant = await Promise.all(
        Events.map(
          async ({ Id }) => JSON.parse(await get(`events/${Id}`, 'application/ld+json')) as { eventStatus: string },
        ),
      )
      expect(meant.map(({ eventStatus }) => eventStatus.replace('https://schema.org/Event', ''))).toEqual([
        'Scheduled',
        'Cancelled',
        'Cancelled',
        'Postponed',
        'Cancelled',
        'Scheduled',
        'Scheduled',
        'Scheduled',
      ])
      const log = await child.line((text) => text.includes('means none') && text.includes('Neu'))
      expect(log).toContain('\\"Neu\\"')
      const status = await (await fetch(`${listening.operations}status`)).text()
      expect(status).toContain('means none of scheduled')
    } finally {
      await child.stop()
    }
  })

  it('a postponed event is tentative in calendars, which show the words with its new date; a cancelled one has no offers', async () => {
    const { 'marquee.yaml': text = '', ...rest } = files(VALUES)
    const yaml = text
      .replace('Status: text', 'Status: text, StatusText: text')
      .replace('Status: {', 'StatusText: Zustand, Status: {')
      .replace(
        'currency: EUR',
        "currency: EUR, links: { event: [{ rel: tickets, href: 'https://t.example.org/{Id}' }] }",
      )
      .replace('TicketsAvailable: Frei', 'TicketsAvailable: Frei, Price: { column: Frei, pick: least }')
    using folder = new WorkFolder({ ...rest, 'marquee.yaml': yaml })
    const { child, listening } = await serve(runtime, folder.at('marquee.yaml'))
    try {
      const get = async (path: string, accept = 'application/json'): Promise<string> =>
        (await fetch(`${listening.address}api/${path}`, { headers: { Accept: accept } })).text()
      const { Events } = JSON.parse(await get('events')) as Listed
      const [, cancelled, , postponed] = Events.map(({ Id }) => Id)
      const calendar = async (id = ''): Promise<readonly string[]> =>
        (await get(`events/${id}.ics`)).split('\r\n').filter((line) => /^(?:SUMMARY|STATUS|URL)/.test(line))
      expect(await calendar(cancelled)).toEqual(['SUMMARY:Stück 2', 'STATUS:CANCELLED'])
      expect(await calendar(postponed)).toEqual([
        'SUMMARY:Stück 4 (verlegt auf 21.02.)',
        'STATUS:TENTATIVE',
        `URL:https://t.example.org/${postponed}`,
      ])
      const jsonLd = async (id = ''): Promise<unknown> => JSON.parse(await get(`events/${id}`, 'application/ld+json'))
      const gone = await jsonLd(cancelled)
      expect(gone).toMatchObject({ eventStatus: 'https://schema.org/EventCancelled' })
      expect(gone).not.toHaveProperty('offers')
      expect(await jsonLd(postponed)).toMatchObject({
        eventStatus: 'https://schema.org/EventPostponed',
        offers: { '@type': 'AggregateOffer', lowPrice: '9', priceCurrency: 'EUR' },
      })
      expect(await get(`events/${postponed}`, 'application/ld+json')).not.toContain('"price"')
    } finally {
      await child.stop()
    }
  })

  it('has offers with the availability, and no price that nothing reads', async () => {
    using folder = new WorkFolder(files(VALUES))
    const { child, listening } = await serve(runtime, folder.at('marquee.yaml'))
    try {
      const { Events } = (await (await fetch(`${listening.address}api/events`)).json()) as Listed
      const offers = await Promise.all(
        [Events[0]?.Id, Events[6]?.Id].map(async (Id = '') => {
          const headers = { Accept: 'application/ld+json' }
          return (await fetch(`${listening.address}api/events/${Id}`, { headers })).json()
        }),
      )
      expect(offers[1]).toMatchObject({ offers: { '@type': 'Offer', availability: 'https://schema.org/InStock' } })
      for (const event of offers) expect(JSON.stringify(event)).not.toMatch(/price|isAccessibleForFree/)
    } finally {
      await child.stop()
    }
  })
})

it('a column of remarks is not listed remark by remark', async () => {
  using folder = new WorkFolder(
    files(
      'Zustand',
      Array.from({ length: 10 }, (_, at) => `Wort ${at}`),
    ),
  )
  const extra = Array.from(
    { length: 30 },
    (_, at) => `9${at},N,2036-07-01T19:30Z,2036-07-01T22:00Z,Oper,9,Oper,Satz ${at}`,
  )
  folder.write('Spielplan.csv', `${files('Zustand')['Spielplan.csv']}${extra.join('\n')}\n`)
  const { stdout } = await runCommand(['check', '--json'], { cwd: folder.path })
  const { suspicious } = JSON.parse(stdout) as { readonly suspicious: readonly { what: string; count: number }[] }
  const told = suspicious.filter(({ what }) => what.includes('means none'))
  expect(told.length).toBe(21)
  expect(told.at(-1)).toMatchObject({ what: `in other rows ${UNKNOWN}`, count: 15 })
})

const SOLD_OUT_ROWS = ['', 'ausverkauft', 'Ausverkauft!', 'AUSVERKAUFT, Warteliste', 'abgesagt', 'Premiere']
const MAPPED = '{ column: Zustand, values: { ausverkauft: scheduled, abgesagt: cancelled, Premiere: scheduled } }'
const SOLD_OUT =
  'says that an event is sold out, but its TicketsAvailable is above 0, so it counts as available: add onlyWhere: { Zustand: { not: [WORD] } } to TicketsAvailable'

/** Files whose tickets are read from a source of their own. */
function soldOut(source: string): Readonly<Record<string, string>> {
  const { 'marquee.yaml': yaml = '', ...rest } = files(MAPPED, SOLD_OUT_ROWS)
  return { ...rest, 'marquee.yaml': yaml.replace('TicketsAvailable: Frei', `TicketsAvailable: ${source}`) }
}

describe('events whose status says that they are sold out', () => {
  it('are named by check, the log and the dashboard if they have tickets', async () => {
    using folder = new WorkFolder(soldOut("{ value: '2147483647' }"))
    const { child, listening } = await serve('bun', folder.at('marquee.yaml'))
    try {
      await child.line((text) => text.includes('says that an event is sold out'))
      const status = await (await fetch(`${listening.operations}status`)).text()
      expect(status).toContain('says that an event is sold out')
    } finally {
      await child.stop()
    }
    const { stdout } = await runCommand(['check', '--json'], { cwd: folder.path })
    const { suspicious } = JSON.parse(stdout) as { readonly suspicious: readonly Record<string, unknown>[] }
    const told = suspicious.filter(({ what }) => String(what).includes('sold out'))
    expect(told).toMatchObject([{ column: 'Zustand', what: SOLD_OUT, count: 3 }])
  })

  it.each([
    ["{ value: '2147483647', onlyWhere: { Zustand: { not: [ausverkauft] } } }", 2_147_483_647],
    ["{ column: Keine, onlyWhere: { Zustand: { not: [ausverkauft] } }, whenBlank: '2147483647' }", 2_147_483_647],
    ['{ column: Frei, onlyWhere: { Zustand: { not: [ausverkauft] } } }', 9],
  ])('have no tickets with %s, and no warning', async (source, left) => {
    using folder = new WorkFolder(soldOut(source))
    const csv = soldOut(source)['Spielplan.csv'] ?? ''
    folder.write('Spielplan.csv', csv.replaceAll(/$/gm, ',').replace(/,$/m, ',Keine'))
    const { stdout } = await runCommand(['check', '--json'], { cwd: folder.path })
    expect(stdout).not.toContain('sold out')
    const { child, listening } = await serve('bun', folder.at('marquee.yaml'))
    try {
      const { Events } = (await (await fetch(`${listening.address}api/events`)).json()) as {
        readonly Events: readonly { readonly TicketsAvailable: number }[]
      }
      expect(Events.slice(1).map(({ TicketsAvailable }) => TicketsAvailable)).toEqual([0, 0, 0, left, left])
    } finally {
      await child.stop()
    }
  })

  it.each([
    ['Karten frei', '45', '{ column: Karten frei, onlyWhere: { Status: { not: [ausverkauft] } } }'],
    ['Plätze', '45', '{ column: Plätze, onlyWhere: { Status: { not: [ausverkauft] } } }'],
    ['Notiz', 'nix', "{ value: '?', onlyWhere: { Status: { not: [ausverkauft] } } }"],
  ])('get no tickets in the configuration that init proposes, beside %s', async (column, cell, source) => {
    const rows = ['', 'ausverkauft', 'Ausverkauft!', 'abgesagt'].map(
      (status, at) => `${at + 1};Stück ${at};1${at}.12.2036 19:30;1${at}.12.2036 22:00;18,00;${cell};${status}`,
    )
    using folder = new WorkFolder({
      'S.csv': [`Nr;Titel;Beginn;Ende;Preis;${column};Status`, ...rows, ''].join('\n'),
    })
    await runCommand(['init', '--from', 'S.csv'], { cwd: folder.path })
    expect(readFileSync(folder.at('marquee.yaml'), 'utf8')).toContain(`TicketsAvailable: ${source}`)
    const { stderr } = await runCommand(['check'], { cwd: folder.path })
    if (source.includes("'?'")) expect(stderr).toContain('TicketsAvailable')
  })

  it('are sold out in JSON-LD too once the questions of init are answered, though nothing counts tickets', async () => {
    using folder = new WorkFolder({
      'S.csv': `Datum;Beginn;Titel;Saal;Preis;Status
04.12.2036;19:30;Krug;Großes Haus;18,- / 12,-;Karten erhältlich
06.12.2036;16:00;Muck;Studio;9,-;ausverkauft
`,
    })
    await runCommand(['init', '--from', 'S.csv'], { cwd: folder.path })
    const proposed = readFileSync(folder.at('marquee.yaml'), 'utf8')
    expect(proposed).toContain("TicketCapacity: '?'   # QUESTION: ")
    const answers = {
      lasting: '2h30m',
      value: "'2147483647'",
      TicketCapacity: "{ value: '2147483647' }",
      showOnWeb: 'null',
      active: 'null',
    }
    const answered = Object.entries(answers).reduce(
      (text, [key, answer]) => text.replaceAll(`${key}: '?'`, `${key}: ${answer}`),
      proposed.replace('port: 8080', 'port: 0'),
    )
    const more = 'operations: null\nfeeds: { jsonLd: on }\nrepresentation: { currency: EUR }\n'
    folder.write('marquee.yaml', `${answered}\n${more}`)
    const { child, listening } = await serve('bun', folder.at('marquee.yaml'))
    try {
      const { Events } = (await (await fetch(`${listening.address}api/events`)).json()) as Listed
      const headers = { Accept: 'application/ld+json' }
      const described = Events.map(async ({ Id }) =>
        (await fetch(`${listening.address}api/events/${Id}`, { headers })).json(),
      )
      expect(await Promise.all(described)).toMatchObject([
        { name: 'Krug', offers: { availability: 'https://schema.org/InStock' } },
        { name: 'Muck', offers: { availability: 'https://schema.org/SoldOut' } },
      ])
    } finally {
      await child.stop()
    }
  })
})
