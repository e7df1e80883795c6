import { describe, expect, it } from 'bun:test'
import { readFileSync } from 'node:fs'
import { runCommand } from '../commands/run-command.ts'
import { WorkFolder } from '../commands/work-folder.ts'
import { serve } from '../support/marquee-process.ts'

const EVENTS = `Nr;Titel;Datum;Beginn;Ende;Saal;Plätze;Verkauft;Preis;Sparte;Kurztext;Bild;Zustand;Öffentlich;Regie;Pause (min);Übertitel;Links;Einlass
1;Figaro;12.07.2036;19:30;22:30;Großes Haus;250;40;25,00;Oper;<p>Eine <b>Oper</b></p><p>von Mozart</p>;https://www.example.org/figaro.jpg;geplant;ja;A. Huber;20;yes;x;2036-07-12T19:00
2;Tosca;13.07.2036;19:30;22:00;Großes Haus;250;10;35,00;Oper;<p>Puccini</p>;;abgesagt;ja;B. Maier;20;no;y;2036-07-13T19:00
3;Faust;14.07.2036;19:00;22:00;Kleines Haus;90;90;15,00;Schauspiel;;https://www.example.org/faust.jpg;verlegt;ja;C. Lang;;yes;z;2036-07-14T18:30
`
const VENUES =
  'Name;Straße;PLZ;Stadt;Barrierefrei;Name (lang);東京\nGroßes Haus;Platz 1;89073;Ulm;true;GH;a\nKleines Haus;Platz 2;89073;Ulm;false;KH;b\n'

describe('init --from proposes what nothing reads as further fields (contract §7)', () => {
  it('as comments that publish nothing, and all of it once their # is removed', async () => {
    using folder = new WorkFolder({ 'Spielplan.csv': EVENTS, 'Orte.csv': VENUES })
    const args = ['init', 'files', '--from', 'Spielplan.csv', '--from', 'Orte.csv']
    expect((await runCommand(args, { cwd: folder.path })).status).toBe(0)
    const text = readFileSync(folder.at('marquee.yaml'), 'utf8')
    const before = await runCommand(['check', '--show', '1'], { cwd: folder.path })
    expect([before.status, before.stdout.includes('"Description":"Eine Oper')]).toEqual([0, false])

    const uncommented = text
      .replaceAll(/^( {6})# (?=[A-Z]\w+: )/gm, '$1')
      .replace(/^# representation:(?:\n#.*)*/m, (block) => block.replaceAll(/^# /gm, ''))
      .replace(/^( {4}active:) \{ Zustand.*$/m, '$1 null')
    folder.write('marquee.yaml', uncommented)
    const after = await runCommand(['check', '--show', '3'], { cwd: folder.path })
    expect([after.status, after.stderr.includes('marquee.yaml:')]).toEqual([0, false])
    const [first, second, third] = after.stdout.split('\n').filter((line) => line.startsWith('{"Id"'))
    const links = ',"_links":['
    expect(first).toContain(
      `"Tags":["Oper"],"Status":"scheduled","Description":"Eine Oper\\nvon Mozart","Image":"https://www.example.org/figaro.jpg","Regie":"A. Huber","PauseMin":20,"Ubertitel":true,"Links2":"x","Einlass":"2036-07-12T19:00:00+00:00"${links}`,
    )
    expect(second).toContain('"Status":"cancelled","Description":"Puccini","Image":null')
    expect(third).toContain('"Status":"postponed","Description":null')
    expect(after.stdout).toContain(`"Website":null,"Barrierefrei":true,"NameLang":"GH","Further":"a"${links}`)
  })

  it('as addresses where most values are, with the prefix that they lack; for names of pictures it asks for one', async () => {
    const rows = ['a.jpg;www.example.org/1;https://tickets.example.org/1', 'b.png;www.example.org/2;Abendkasse']
    const events = [...rows, 'c.jpg;www.example.org/3;https://tickets.example.org/3']
      .map((row, at) => `${at + 1};Tosca;1${at}.07.2036 19:30;1${at}.07.2036 22:00;9;250;18;${row}\n`)
      .join('')
    using folder = new WorkFolder({
      'Plan.csv': `Nr;Titel;Beginn;Ende;Frei;Plätze;Preis;Bild;Mehr;Tickets\n${events}`,
      'venues.csv': 'Id,Name\n',
    })
    expect((await runCommand(['init', 'files', '--from', 'Plan.csv'], { cwd: folder.path })).status).toBe(0)
    const text = readFileSync(folder.at('marquee.yaml'), 'utf8')
    expect(text).toContain("      # Image: { column: Bild, prefix: '?' }   # QUESTION: Where are these pictures?")
    expect(text).toContain("      # Mehr: { column: Mehr, prefix: 'https://' }")
    expect(text).toContain('      # Tickets: Tickets   # e.g. https://tickets.example.org/1')
    expect(text).toContain(`#   further:
#     events:
#       Image: url
#       Mehr: url
#       Tickets: url
#   links:
#     event: [{ rel: tickets, href: '{+Tickets}' }]
`)
    const uncommented = text
      .replaceAll(/^( {6})# (?=[A-Z]\w+: )/gm, '$1')
      .replace(/^# representation:(?:\n#.*)*/m, (block) => block.replaceAll(/^# /gm, ''))
      .replace(/showOnWeb: '\?'/, 'showOnWeb: null')
    folder.write('marquee.yaml', uncommented)
    const open = await runCommand(['check'], { cwd: folder.path })
    expect(open.status).toBe(2)
    expect(open.stderr).toContain("Image.prefix is still '?'")
    folder.write('marquee.yaml', uncommented.replace("prefix: '?'", "prefix: 'https://www.example.org/'"))
    const { status, stdout, stderr } = await runCommand(['check', '--show', '2'], { cwd: folder.path })
    expect(status).toBe(0)
    expect(stdout).toContain('"Image":"https://www.example.org/a.jpg","Mehr":"https://www.example.org/1"')
    expect(stdout).toContain('{"Rel":"tickets","Href":"https://tickets.example.org/1"')
    expect(stderr).toContain('Tickets is not an absolute http or https URL')
  })
})

describe('init --from and several prices in a cell', () => {
  const rows = ['18,- / 12,- €', '9,50 €', 'frei']
    .map((price, at) => `${at + 1};Tosca;1${at}.07.2036 19:30;1${at}.07.2036 22:00;250;9;${price}\n`)
    .join('')
  const propose = async (text: string): Promise<WorkFolder> => {
    const plan = `Nr;Titel;Beginn;Ende;Plätze;Frei;Preis\n${text}`
    const folder = new WorkFolder({ 'Plan.csv': plan, 'venues.csv': 'Id,Name\n' })
    expect((await runCommand(['init', 'files', '--from', 'Plan.csv'], { cwd: folder.path })).status).toBe(0)
    return folder
  }

  it('proposes the highest: JSON-LD has several prices only for rows that have them', async () => {
    using folder = await propose(rows)
    const yaml = readFileSync(folder.at('marquee.yaml'), 'utf8')
    expect(yaml).toContain(
      '      # HighestPrice: { column: Preis, values: { frei: 0 }, pick: greatest }   # search engines read it',
    )
    folder.write(
      'marquee.yaml',
      `operations: null\nfeeds: { jsonLd: on }\n${yaml
        .replace('port: 8080', 'port: 0')
        .replaceAll(/^( {6})# (?=[A-Z]\w+: )/gm, '$1')
        .replace(/^# representation:(?:\n#.*)*/m, (block) => block.replaceAll(/^# /gm, ''))
        .replace(/^representation:/m, 'representation:\n  currency: EUR')
        .replace("showOnWeb: '?'", 'showOnWeb: null')}`,
    )
    const { child, listening } = await serve('bun', folder.at('marquee.yaml'))
    try {
      const { Events } = (await (await fetch(`${listening.address}api/events`)).json()) as {
        readonly Events: readonly { readonly Id: string }[]
      }
      const described = Events.map(async ({ Id }) => {
        const headers = { Accept: 'application/ld+json' }
        return (await fetch(`${listening.address}api/events/${Id}`, { headers })).json()
      })
      const [several, one, free] = await Promise.all(described)
      expect(several).toMatchObject({ offers: { '@type': 'AggregateOffer', lowPrice: '12', highPrice: '18' } })
      expect(one).toMatchObject({ offers: { '@type': 'Offer', price: '9.50' } })
      expect(free).toMatchObject({ offers: { '@type': 'Offer', price: '0' }, isAccessibleForFree: true })
      expect(JSON.stringify([one, free])).not.toMatch(/lowPrice|highPrice/)
    } finally {
      await child.stop()
    }
  })

  it('proposes none after `ab`: the highest is unknown', async () => {
    using folder = await propose(rows.replace('9,50 €', 'ab 9,50 €'))
    const yaml = readFileSync(folder.at('marquee.yaml'), 'utf8')
    expect(yaml).toContain('# PriceText: Preis')
    expect(yaml).not.toContain('HighestPrice')
  })
})

const PLACES = 'Name\nOper\n'

describe('init --from finds what is cancelled in remarks', () => {
  const proposalOf = async (remarks: readonly string[]): Promise<{ readonly text: string; readonly said: string }> => {
    const rows = remarks.map(
      (remark, at) => `${at + 1};Tosca;1${at}.07.2036 19:30;1${at}.07.2036 22:00;250;9;18;${remark}\n`,
    )
    using folder = new WorkFolder({
      'Plan.csv': `Nr;Titel;Beginn;Ende;Plätze;Frei;Preis;Hinweis\n${rows.join('')}`,
      'venues.csv': 'Id,Name\n',
    })
    const { stdout } = await runCommand(['init', 'files', '--from', 'Plan.csv'], { cwd: folder.path })
    return { text: readFileSync(folder.at('marquee.yaml'), 'utf8'), said: stdout }
  }

  it('and proposes them as the status, with their words, if most are states', async () => {
    const { text } = await proposalOf(['', 'Abgesagt wegen Krankheit', 'verlegt auf 21.07.'])
    expect(text).toContain(
      '      Status: { column: Hinweis, values: { Abgesagt: cancelled, verlegt: postponed } }   # calendars',
    )
    expect(text).toContain('      # StatusText: Hinweis')
  })

  it('also if few are', async () => {
    const { text, said } = await proposalOf(['mit Einführung', 'mit Pause', 'Abgesagt wegen Krankheit'])
    expect(text).toContain('      Status: { column: Hinweis, values: { Abgesagt: cancelled } }')
    expect(said).not.toContain('not used: Hinweis')
  })
})

describe('init --from reads words for sold out among numbers', () => {
  it('as no tickets left, also in a column of tickets sold', async () => {
    const rows = ['40', 'ausverkauft', '10'].map(
      (sold, at) => `${at + 1};Tosca;1${at}.07.2036 19:30;1${at}.07.2036 22:00;Oper;250;${sold};18\n`,
    )
    const plan = `Nr;Titel;Beginn;Ende;Ort;Plätze;Verkauft;Preis\n${rows.join('')}`
    using folder = new WorkFolder({ 'Plan.csv': plan, 'Orte.csv': PLACES })
    const args = ['init', 'files', '--from', 'Plan.csv', '--from', 'Orte.csv']
    expect((await runCommand(args, { cwd: folder.path })).status).toBe(0)
    const text = readFileSync(folder.at('marquee.yaml'), 'utf8').replace("showOnWeb: '?'", 'showOnWeb: null')
    const proposed = '{ subtract: [Plätze, Verkauft], values: { ausverkauft: 2147483647 } }'
    expect(text).toContain(`TicketsAvailable: ${proposed}`)
    folder.write('marquee.yaml', text)
    const { stdout } = await runCommand(['check', '--show', '3'], { cwd: folder.path })
    const left = stdout.split('\n').flatMap((line) => /"TicketsAvailable":(\d+)/.exec(line)?.[1] ?? [])
    expect(left).toEqual(['210', '0', '240'])

    folder.write('marquee.yaml', text.replace(', values: { ausverkauft: 2147483647 }', ''))
    const without = await runCommand(['check'], { cwd: folder.path })
    expect(without.stdout).toContain(
      'or read it with { subtract: ["Plätze", "Verkauft"], values: { "ausverkauft": 2147483647 } }, which leaves 0 tickets.',
    )
    expect(without.stdout).not.toContain('write 0 for')
  })

  it('and asks for the number of tickets where only those left are told', async () => {
    const rows = ['40', 'ausverkauft', '10'].map(
      (left, at) => `${at + 1};Tosca;1${at}.07.2036 19:30;1${at}.07.2036 22:00;Oper;${left};18\n`,
    )
    const plan = `Nr;Titel;Beginn;Ende;Ort;Karten;Preis\n${rows.join('')}`
    using folder = new WorkFolder({ 'Plan.csv': plan, 'Orte.csv': PLACES })
    const args = ['init', 'files', '--from', 'Plan.csv', '--from', 'Orte.csv']
    expect((await runCommand(args, { cwd: folder.path })).status).toBe(0)
    const text = readFileSync(folder.at('marquee.yaml'), 'utf8')
    expect(text).toContain("TicketCapacity: '?'   # QUESTION: Which column is the total number of tickets?")
    expect(text).toContain('TicketsAvailable: { column: Karten, values: { ausverkauft: 0 } }')
    expect(text).toContain('# Answer each QUESTION:')
  })
})
