import { describe, expect, it } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { DomUtils, parseDocument, parseFeed } from 'htmlparser2'
import type { DateTime } from '../../src/domain/date-time.ts'
import type { EventRecord } from '../../src/domain/event.ts'
import type { VenueRecord } from '../../src/domain/venue.ts'
import { type FeedSettings, FeedFormatter } from '../../src/formats/feed-formatter.ts'
import { Chance } from '../model/chance.ts'
import { installedProgram } from '../support/installed-program.ts'
import { RandomRecords } from './random-records.ts'

const SETTINGS: FeedSettings = {
  basePath: '/on',
  namespace: 'EventsApi',
  links: { event: [], venue: [] },
  page: 'https://www.example.org/whats-on/{Id}?in={Tags}',
  currency: null,
  calendarName: "What's on & where",
  language: 'en-GB',
}
const RECORDS = 10_000
const PAGE = 200
const GRAMMAR = join(import.meta.dirname, 'atom.rng')
const XMLLINT = installedProgram('xmllint')
if (XMLLINT === null) console.warn('xmllint is not installed: no Atom feed is held against the grammar of RFC 4287.')

/** What xmllint says of a feed by the grammar of RFC 4287; empty if it is valid. */
function faultsOf(feed: string): string {
  const { status, stderr } = spawnSync(XMLLINT ?? '', ['--noout', '--nonet', '--relaxng', GRAMMAR, '-'], {
    input: feed,
    encoding: 'utf8',
  })
  return status === 0 ? '' : `${status}: ${stderr}`
}

const random = new RandomRecords(new Chance(7))
const CONCERT: EventRecord = {
  ...random.event(null),
  Id: '7e016ac6-5cee-4fd6-be12-faa34a6761ef' as EventRecord['Id'],
  Name: 'Rope & Reel',
  Tags: [],
  Start: '2036-05-09T19:30:00+01:00' as DateTime,
  Finish: '2036-05-09T22:00:00+01:00' as DateTime,
}

function entryOf(
  event: Partial<EventRecord>,
  venue: VenueRecord | null = null,
  settings: Partial<FeedSettings> = {},
): string {
  return new FeedFormatter({ ...SETTINGS, ...settings }).entry({ ...CONCERT, ...event }, venue, {
    sinceS: 1_767_225_600,
    sequence: 0,
  })
}

/** The text of an element as a reader of XML sees it. */
function textOf(name: string, xml: string): string {
  return DomUtils.textContent(DomUtils.getElementsByTagName(name, parseDocument(xml, { xmlMode: true })))
}

describe.skipIf(XMLLINT === null)('an Atom feed, judged by xmllint (RFC 4287, appendix B)', () => {
  const formatter = new FeedFormatter(SETTINGS)
  const feedOf = (entries: readonly string[]): string =>
    formatter.feed(entries, '?tag=A+%26+B', {
      self: '/on/api/events.atom',
      next: '/on/api/events.atom?after=x',
      sinceS: 0,
    })

  it('is valid without an entry, and not once anything that must be there is missing or wrong', () => {
    const feed = feedOf([entryOf({})])
    expect(faultsOf(feedOf([]))).toBe('')
    expect(faultsOf(feed)).toBe('')
    for (const [part, other] of [
      [/<entry><id>[^<]*<\/id>/, '<entry>'],
      [/<title>[^<]*<\/title>/, ''],
      [/<updated>1970-01-01T00:00:00Z/, '<updated>1970-01-01'],
      [/<summary>/, '<summary type="words">'],
      [/<content type="html">[^<]*<\/content>/, '$&$&'],
      [/ href="[^"]*"/, ''],
      [/<summary>/, '<subtitle>x</subtitle><summary>'],
    ] as const)
      expect([String(part), faultsOf(feed.replace(part, other))]).not.toEqual([String(part), ''])
  })

  it(`says of ${RECORDS} random records what they are, as htmlparser2 reads them`, () => {
    const records = new RandomRecords(new Chance(51))
    for (let count = 0; count < RECORDS; count += PAGE) {
      const made = Array.from({ length: PAGE }, (_, at) => {
        const venue = at % 3 === 0 ? null : records.venue()
        const event = records.event(venue)
        const sinceS = 1_767_225_600 + count + at
        return { event, sinceS, entry: formatter.entry(event, venue, { sinceS, sequence: at }) }
      })
      const feed = feedOf(made.map(({ entry }) => entry))
      expect(faultsOf(feed)).toBe('')
      const read = parseFeed(feed)
      expect(read?.title).toBe("What's on & where")
      expect(read?.items.map(({ id, pubDate }) => [id, pubDate?.getTime()])).toEqual(
        made.map(({ event, sinceS }) => [`urn:uuid:${event.Id}`, sinceS * 1000]),
      )
      for (const [at, { event }] of made.entries())
        expect(read?.items[at]?.link).toStartWith(`https://www.example.org/whats-on/${event.Id}?in=`)
    }
  })

  it('has one author, and one id for each query, on all its pages', () => {
    const feed = feedOf([entryOf({})])
    expect(feed).toContain("<author><name>What's on &amp; where</name></author>")
    const idIn = (text: string): string => /<id>(urn:uuid:[0-9a-f-]{36})<\/id>/.exec(text)?.[1] ?? ''
    const links = { self: '/a', next: null, sinceS: 5 }
    expect(idIn(feed)).toBe(idIn(formatter.feed([], '?tag=A+%26+B', links)))
    const ids = [
      idIn(feed),
      idIn(formatter.feed([], '', links)),
      idIn(new FeedFormatter({ ...SETTINGS, page: 'https://other.example.org/{Id}' }).feed([], '', links)),
      idIn(new FeedFormatter({ ...SETTINGS, page: null }).feed([], '', links)),
    ]
    expect(ids.every((id) => id !== '')).toBe(true)
    expect(new Set(ids).size).toBe(4)
  })
})

describe('an entry of the Atom feed', () => {
  it.each([
    ['2036-05-09T19:30:00+01:00', '2036-05-09T22:00:00+01:00', 'en-GB', 'Friday, 9 May 2036, 19:30–22:00'],
    [
      '2036-05-09T19:30:00+01:00',
      '2036-05-10T02:00:00+01:00',
      'en-GB',
      'Friday, 9 May 2036 at 19:30 – Saturday, 10 May 2036 at 02:00',
    ],
    ['2036-05-09T19:30:00+01:00', '2036-05-09T19:30:00+01:00', 'en-GB', 'Friday, 9 May 2036 at 19:30'],
    ['2036-05-09T19:30:00+02:00', '2036-05-09T22:00:00+02:00', 'de', 'Freitag, 9. Mai 2036, 19:30–22:00 Uhr'],
    ['2036-05-09T00:00:00+01:00', '2036-05-09T23:59:59+01:00', 'en-GB', 'Friday, 9 May 2036'],
    ['2036-05-09T00:00:00+01:00', '2036-05-11T23:59:59+01:00', 'en-GB', 'Friday 9 May – Sunday 11 May 2036'],
    ['0099-05-09T00:00:00+00:00', '0099-05-09T23:59:59+00:00', 'fr', 'samedi 9 mai 99'],
  ])('says in words when it is: %s to %s in %s', (start, finish, language, words) => {
    const entry = entryOf({ Start: start as DateTime, Finish: finish as DateTime }, null, { language })
    expect(textOf('summary', entry)).toBe(words)
  })

  it('has the place, the tags, the page, and the description in paragraphs', () => {
    const venue: VenueRecord = {
      ...random.venue(),
      Name: 'Hall <1>',
      AddressStreet1: null,
      AddressStreet2: ' ',
      AddressStreet3: null,
      AddressCity: 'Dresden',
      AddressPostalCode: '01067',
      AddressState: null,
      AddressCountry: null,
    }
    const further = {
      events: [
        { name: 'Description', type: 'text' },
        { name: 'Image', type: 'url' },
      ],
      venues: [],
    } as const
    const Further = ['One <b>bold</b> & "brave"\r\nhour.\r\n \r\nTwo.', 'https://img.example.org/a.png?a=1&b="2"']
    const entry = entryOf({ Tags: ['Folk & Blues', ''], Further }, venue, { further })
    expect(entry).toContain('<category term="Folk &amp; Blues"/><summary>')
    expect(entry).toContain(
      `<link rel="alternate" type="text/html" href="https://www.example.org/whats-on/${CONCERT.Id}?in=`,
    )
    expect(textOf('summary', entry)).toEndWith(', Hall <1>, 01067 Dresden')
    const [picture, when, place, ...paragraphs] = textOf('content', entry).split('</p>')
    expect(picture).toBe('<p><img src="https://img.example.org/a.png?a=1&amp;b=&quot;2&quot;" alt="">')
    expect(when).toStartWith('<p>Friday, 9 May 2036')
    expect([place, ...paragraphs]).toEqual([
      '<p>Hall &lt;1&gt;, 01067 Dresden',
      '<p>One &lt;b&gt;bold&lt;/b&gt; &amp; "brave"<br>hour.',
      '<p>Two.',
      '',
    ])
  })

  it('says in its title that it is off or elsewhere, in the words of the organisation', () => {
    const further = {
      events: [
        { name: 'Status', type: 'text' },
        { name: 'StatusText', type: 'text' },
      ],
      venues: [],
    } as const
    const titleOf = (...Further: readonly (string | null)[]): string =>
      textOf('title', entryOf({ Further }, null, { further }))
    expect(titleOf('cancelled', 'abgesagt ')).toBe('Rope & Reel (abgesagt)')
    expect(titleOf('rescheduled', 'now on 21 May')).toBe('Rope & Reel (now on 21 May)')
    expect(titleOf('postponed', null)).toBe('Rope & Reel (postponed)')
    expect(titleOf('scheduled', 'as planned')).toBe('Rope & Reel')
    expect(titleOf(null, 'perhaps')).toBe('Rope & Reel')
  })

  it('has its date for a title if it has no name', () => {
    expect(textOf('title', entryOf({ Name: ' ' }))).toStartWith('Friday, 9 May 2036')
  })

  it('leads to a page whose address has several parameters', () => {
    const page = 'https://www.example.org/?event={Id}&from=feed'
    expect(entryOf({}, null, { page })).toContain(`href="https://www.example.org/?event=${CONCERT.Id}&amp;from=feed"`)
  })

  it('leads to its page, or if there is none, to the tickets, unless it is cancelled', () => {
    const links = { event: [{ rel: 'tickets', href: 'https://tickets.example.org/{Id}', title: null }], venue: [] }
    expect(entryOf({ Links: [] }, null, { page: null })).not.toContain('alternate')
    expect(entryOf({ Links: [] }, null, { page: null, links })).toContain(
      `href="https://tickets.example.org/${CONCERT.Id}"`,
    )
    const further = { events: [{ name: 'Status', type: 'text' }], venues: [] } as const
    const off = entryOf({ Links: [], Further: ['cancelled'] }, null, { page: null, links, further })
    expect(off).not.toContain('alternate')
  })
})
