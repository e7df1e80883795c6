import { describe, expect, it } from 'bun:test'
import { runCommand } from '../commands/run-command.ts'
import { WorkFolder } from '../commands/work-folder.ts'
import { RUNTIMES } from '../support/depth.ts'
import { serve } from '../support/marquee-process.ts'

const SHOP = 'https://tickets.example.org/e?id=7&lang=de#seats'
const TICKETS = [
  SHOP,
  '',
  '  ',
  'www.tickets.example.org',
  'javascript:alert(1)',
  ' https://tickets.example.org/Großes Haus{x} ',
]
const IMAGES = [
  'figaro 1.jpg',
  '/bilder/tosca.jpg',
  'https://cdn.example.org/a.jpg',
  '',
  '//cdn.example.org/b.jpg',
  'kein',
]

interface Asked {
  readonly href?: string
  readonly page?: string
  readonly image?: string
}

function files({ href = '{+Tickets}', page = 'null', image = 'Bild' }: Asked = {}): Readonly<Record<string, string>> {
  const rows = TICKETS.map((Link, at) => ({
    Nr: `${at + 1}`,
    Titel: `Stück ${at + 1}`,
    Beginn: `2036-06-2${at}T19:30Z`,
    Ende: `2036-06-2${at}T22:00Z`,
    Link,
    Bild: IMAGES[at],
    Text: at === 0 ? '<p>Eine <b>Oper</b></p>' : at === 1 ? 'Kaffee &amp; Kuchen' : 'a < b & c',
  }))
  return {
    'Plan.json': JSON.stringify(rows),
    'Orte.json': '[]',
    'marquee.yaml': `listen: { port: 0 }
operations: null
lists: on
feeds: { calendar: on, jsonLd: on }
representation:
  currency: EUR
  page: ${page}
  further: { events: { Tickets: url, Image: text, Text: text } }
  links: { event: [{ rel: tickets, href: '${href}', title: Karten }] }
crm:
  kind: files
  directory: .
  idNamespace: 6f1f3c0e-5f0e-4c57-8a55-0d6c1c0a7e11
  events:
    from: Plan.json
    fields: { Id: Nr, Name: Titel, Start: Beginn, Finish: Ende, Tickets: Link, Image: ${image}, Text: Text }
    showOnWeb: null
    active: null
  venues: { from: Orte.json, fields: { Id: Nr }, active: null }
`,
  }
}

type Get = (path: string, accept?: string) => Promise<string>

async function served<Found>(
  runtime: 'bun' | 'node',
  asked: Asked,
  look: (get: Get) => Promise<Found>,
): Promise<Found> {
  using folder = new WorkFolder(files(asked))
  const { child, listening } = await serve(runtime, folder.at('marquee.yaml'))
  try {
    return await look(async (path, accept = 'application/json') =>
      (await fetch(`${listening.address}api/${path}`, { headers: { Accept: accept } })).text(),
    )
  } finally {
    await child.stop()
  }
}

interface Listed {
  readonly Id: string
  readonly Image: string | null
  readonly _links: readonly { readonly Rel: string; readonly Href: string; readonly IsTemplated: boolean }[]
}

async function listed(get: Get): Promise<readonly Listed[]> {
  return (JSON.parse(await get('events')) as { readonly Events: readonly Listed[] }).Events
}

const ENCODED = 'https://tickets.example.org/Gro%C3%9Fes%20Haus%7Bx%7D'

describe.each(RUNTIMES)('a link to the address in a field, on %s', (runtime) => {
  it('is there in every format where the field holds an absolute address, and left out elsewhere', async () => {
    await served(runtime, {}, async (get) => {
      const events = await listed(get)
      const hrefs = events.map(({ _links }) => _links.filter(({ Rel }) => Rel === 'tickets').map(({ Href }) => Href))
      expect(hrefs).toEqual([[SHOP], [], [], [], [], [ENCODED]])
      expect(events.flatMap(({ _links }) => _links).every(({ IsTemplated }) => !IsTemplated)).toBe(true)
      const [first, second] = [events[0]?.Id ?? '', events[1]?.Id ?? '']
      for (const type of ['application/hal+json', 'application/xml', 'application/hal+xml']) {
        expect(await get(`events/${first}`, type)).toContain(
          type.endsWith('xml') ? SHOP.replaceAll('&', '&amp;') : `"tickets":{"href":"${SHOP}","title":"Karten"}`,
        )
        expect(await get(`events/${second}`, type)).not.toContain('Karten')
      }
      const jsonLd = await Promise.all(
        events.map(
          async ({ Id }) => JSON.parse(await get(`events/${Id}`, 'application/ld+json')) as { offers?: unknown },
        ),
      )
      const offer = (url: string): object => ({ '@type': 'Offer', url })
      expect(jsonLd.map(({ offers }) => offers)).toEqual([
        offer(SHOP),
        undefined,
        undefined,
        undefined,
        undefined,
        offer(ENCODED),
      ])
      const calendar = (await get('events.ics')).replaceAll('\r\n ', '')
      expect(calendar.match(/^URL:.*$/gm)).toEqual([`URL:${SHOP}`, `URL:${ENCODED}`])
    })
  })

  it('may be part of an address, and the page of an event may be a field too', async () => {
    await served(runtime, { href: 'https://a.example/go?to={+Tickets}', page: "'{+Tickets}'" }, async (get) => {
      const events = await listed(get)
      const hrefs = events.map(({ _links }) => _links.find(({ Rel }) => Rel === 'tickets')?.Href ?? null)
      const at = 'https://a.example/go?to='
      const relative = [`${at}www.tickets.example.org`, `${at}javascript:alert(1)`]
      expect(hrefs).toEqual([`${at}${SHOP}`, null, null, ...relative, `${at}${ENCODED}`])
      const calendar = (await get('events.ics')).replaceAll('\r\n ', '')
      expect(calendar.match(/^URL:.*$/gm)).toEqual([
        `URL:${SHOP}`,
        ...relative.map((url) => `URL:${url}`),
        `URL:${ENCODED}`,
      ])
    })
  })
})

describe('a field of addresses', () => {
  it('has a prefix, which a value that is absolute does not get', async () => {
    for (const prefix of ['https://www.example.org/media/', 'https://www.example.org/media?file=']) {
      const image = `{ column: Bild, prefix: '${prefix}', values: { kein: null } }`
      const events = await served('bun', { image }, listed)
      const slash = prefix.endsWith('/') ? '' : '/'
      expect(events.map(({ Image }) => Image)).toEqual([
        `${prefix}figaro%201.jpg`,
        `${prefix}${slash}bilder/tosca.jpg`,
        'https://cdn.example.org/a.jpg',
        '',
        '//cdn.example.org/b.jpg',
        null,
      ])
    }
  })

  it.each([
    [
      "{ column: Bild, prefix: 'media/' }",
      'crm.events.fields.Image.prefix is "media/"; it must be the beginning of an http or https URL',
    ],
    ['{ column: Bild, prefix: 7 }', 'crm.events.fields.Image.prefix is'],
  ])('refuses %s', async (image, sentence) => {
    using folder = new WorkFolder(files({ image }))
    const { stderr, status } = await runCommand(['check'], { cwd: folder.path })
    expect([status, stderr.includes(sentence)]).toEqual([2, true])
  })

  it('is suspicious where an address is relative, and a text where it is HTML', async () => {
    using folder = new WorkFolder(files())
    const { stdout } = await runCommand(['check', '--json'], { cwd: folder.path })
    const { suspicious } = JSON.parse(stdout) as {
      suspicious: readonly { column: string; what: string; count: number }[]
    }
    const told = suspicious.map(({ column, what, count }) => `${column} ${what}: ${count}`)
    const relative = 'is not an absolute http or https URL, and is served as it is: set prefix to complete it'
    const html = 'contains HTML, which is served as it is: set html: true to read its text, or html: false to keep it'
    for (const sentence of [`Link ${relative}: 3`, `Bild ${relative}: 4`, `Text ${html}: 2`])
      expect(told).toContain(sentence)
    for (const said of ['true', 'false']) {
      folder.write(
        'marquee.yaml',
        files()['marquee.yaml']?.replace('Text: Text', `Text: { column: Text, html: ${said} }`) ?? '',
      )
      expect((await runCommand(['check', '--json'], { cwd: folder.path })).stdout).not.toContain('contains HTML')
    }
  })

  it.each([
    ['{Tickets}', 'begins with {Tickets}, whose value is percent-encoded and so no address: write {+Tickets}'],
    [
      '{Karten}',
      'begins with a name in braces that is not a field: declare it in representation.further, with the type url',
    ],
    ['{+Ticket}', 'contains a name in braces that is not a field and will not be filled in; did you mean {Tickets}?'],
  ])('a link to %s is warned of', async (href, sentence) => {
    using folder = new WorkFolder(files({ href }))
    const { stderr } = await runCommand(['check'], { cwd: folder.path })
    expect(stderr).toContain(`representation.links.event[0].href ${sentence}`)
  })
})
