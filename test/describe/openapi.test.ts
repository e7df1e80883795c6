import { describe, expect, it } from 'bun:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { EVENTS } from '../../src/domain/event.ts'
import { VENUES } from '../../src/domain/venue.ts'
import { pageOf } from '../../src/describe/html.ts'
import { jsonText } from '../../src/describe/json-schemas.ts'
import { openApi } from '../../src/describe/openapi.ts'
import { MEDIA_TYPES } from '../../src/formats/media-types.ts'
import { readListQuery } from '../../src/http/list-query.ts'
import { REFUSALS } from '../../src/http/problem.ts'
import { GOLDEN } from '../contract/golden-cases.ts'
import { INSTANCE } from '../../scripts/description-files.ts'
import { documentOf, responseIn } from './document.ts'
import { exchanges, goldenPages } from './received.ts'
import { validator } from './schemas.ts'

const document = documentOf()
/** An instance without feeds. */
const NO_FEEDS = INSTANCE.feeds
const validate = validator(document)
const bodyOf = (name: 'event' | 'venue', suffix: 'json' | 'hal.json'): string =>
  `${suffix === 'json' ? '' : 'Hal'}${name === 'event' ? 'Event' : 'Venue'}`
const refer = (name: string): object => ({ $ref: `#/components/schemas/${name}` })

describe('the description as OpenAPI 3.1 (contract §5)', () => {
  const link = { rel: '__proto__', href: '~/book/{Id}', title: 'Book' }
  it.each([
    ['by default', { lists: false }],
    ['with lists', {}],
    [
      'below a base path, with links and conditional requests',
      {
        basePath: '/What%E2%80%99s%20On/v1',
        links: { event: [link], venue: [] },
        conditionalRequests: true,
        maxAgeMs: 0,
      },
    ],
  ])('is valid %s', async (_, more) => {
    const checked = await new Validator().validate(documentOf(more) as unknown as Record<string, unknown>)
    expect(checked.errors).toBeUndefined()
    expect(checked.valid).toBe(true)
  })

  it('describes the changes where they are on, with 410 and 503', () => {
    const withChanges = documentOf({ feeds: { ...NO_FEEDS, changes: true } })
    const { content = {} } = responseIn(withChanges, '/api/changes', 200)
    expect(Object.keys(content)).toEqual(['application/json', 'application/hal+json'])
    for (const status of [400, 410, 502, 503]) expect(responseIn(withChanges, '/api/changes', status)).toBeDefined()
    expect(document.paths['/api/changes']).toBeUndefined()
  })

  it('says what this instance answers and nothing else: base path, lists, conditional requests, links', () => {
    const records = ['/api/events/{id}', '/api/events/{id}/venue', '/api/venues/{id}']
    expect(Object.keys(documentOf({ lists: false }).paths)).toEqual([...records, '/api/openapi.json', '/'])
    expect(Object.keys(document.paths).toSorted()).toEqual(
      ['/', ...records, '/api/events', '/api/venues', '/api/tags', '/api/openapi.json'].toSorted(),
    )
    expect(Object.keys(documentOf({ lists: false }).components.schemas)).not.toContain('EventPage')
    expect(documentOf({ basePath: '/v1' }).servers).toEqual([{ url: '/v1' }])
    const conditional = documentOf({ conditionalRequests: true })
    for (const path of Object.keys(conditional.paths))
      expect(responseIn(conditional, path, 304).content).toBeUndefined()
    for (const path of records) expect(Object.keys(document.paths[path]?.get.responses ?? {})).not.toContain('304')
  })

  it('describes problems as they come: in JSON alone at feeds, and with the base path', () => {
    const feeds = { ...NO_FEEDS, calendar: true, atom: true }
    const withFeeds = documentOf({ feeds, basePath: '/v1' })
    const [JSON_PROBLEM, XML_PROBLEM] = ['application/problem+json', 'application/problem+xml'] as const
    for (const [path, status, types] of [
      ['/api/events', 400, [JSON_PROBLEM, XML_PROBLEM]],
      ['/api/events/{id}', 404, [JSON_PROBLEM, XML_PROBLEM]],
      ['/api/events/{id}.ics', 404, [JSON_PROBLEM]],
      ['/api/events.ics', 400, [JSON_PROBLEM]],
      ['/api/events.ics', 502, [JSON_PROBLEM]],
      ['/api/events.atom', 400, [JSON_PROBLEM]],
      ['/api/events.atom', 502, [JSON_PROBLEM]],
    ] as const) {
      const { content = {} } = responseIn(withFeeds, path, status)
      expect([path, status, Object.keys(content)]).toEqual([path, status, [...types]])
    }
    for (const path of ['/api/events/{id}', '/api/events/{id}.ics']) {
      const example = JSON.stringify(responseIn(withFeeds, path, 404).content?.[JSON_PROBLEM])
      const id = String(JSON.parse(EVENTS.fields[0].example))
      expect(example).toContain(`"instance":"/v1${path.replace('{id}', id)}"`)
    }
  })

  it('says which types Accept can choose, the feeds that are on among them, as the page does', () => {
    const six = MEDIA_TYPES.join(', ')
    for (const [feeds, types] of [
      [{ ...NO_FEEDS, atom: true, changes: true }, six],
      [{ ...NO_FEEDS, calendar: true }, `${six}; for an event also text/calendar`],
      [
        { ...NO_FEEDS, calendar: true, jsonLd: true },
        `${six}; for an event also text/calendar and application/ld+json`,
      ],
    ] as const) {
      expect(documentOf({ feeds }).info.description).toContain(`the media type you want: ${types}. Without it`)
      const shown = pageOf({ ...INSTANCE, feeds }).html.replaceAll(/<\/?code>/g, '')
      expect(shown).toContain(`the media type you want: ${types}. Without it`)
    }
  })

  it('has the types, refusals and fields of the tables, each in full', () => {
    for (const path of [
      '/api/events',
      '/api/events/{id}',
      '/api/events/{id}/venue',
      '/api/venues',
      '/api/tags',
      '/api/venues/{id}',
    ]) {
      expect(Object.keys(responseIn(document, path, 200).content ?? {})).toEqual([...MEDIA_TYPES])
    }
    const described = Object.keys(document.components.responses).toSorted()
    expect(described).toEqual(
      Object.keys(REFUSALS)
        .filter((refusal) => !['method-not-allowed', 'changes-unknown', 'too-many-waiting'].includes(refusal))
        .toSorted(),
    )
    for (const { kind, fields } of [EVENTS, VENUES]) {
      const names = fields.map(({ name }) => name)
      expect(document.components.schemas[bodyOf(kind, 'json')]?.required).toEqual([...names, '_links', '_embedded'])
      expect(document.components.schemas[bodyOf(kind, 'hal.json')]?.required).toEqual([...names, '_links'])
    }
  })

  it('keeps the digits of its examples, which fit their schemas', () => {
    expect(jsonText(openApi(INSTANCE))).toContain('"Price":18.50')
    for (const [name, { value }] of Object.entries(document.components.examples)) {
      const [schema = '', shape] = name.split('-')
      if (shape === 'json') expect([name, validate(refer(schema), value)]).toEqual([name, null])
    }
  })
})

describe('the schemas of the description', () => {
  it('fit every golden body', () => {
    for (const { name, kind, bodies } of GOLDEN) {
      for (const suffix of ['json', 'hal.json'] as const) {
        const body: unknown = JSON.parse(bodies[suffix].toString('utf8'))
        expect([name, suffix, validate(refer(bodyOf(kind, suffix)), body)]).toEqual([name, suffix, null])
      }
    }
    for (const { name, schema, body } of goldenPages()) {
      expect([name, validate(refer(schema), body)]).toEqual([name, null])
    }
  })

  it('fit every JSON answer of the transcript, and the headers of all', () => {
    const conditional = documentOf({ conditionalRequests: true })
    let fitted = 0
    for (const { path, template, status, headers, body } of exchanges()) {
      if (template === null || status === 204 || status === 405) continue
      const response = responseIn(status === 304 ? conditional : document, template, status)
      if (status === 304) continue
      const type = (headers.get('content-type') ?? '').split(';')[0] ?? ''
      const content = response.content?.[type]
      if (content === undefined) throw new Error(`${type} is not described at ${path}`)
      const received = [...headers.keys()].filter((name) => name !== 'content-type').toSorted()
      const named = Object.keys(response.headers).map((name) => name.toLowerCase())
      expect([path, received.filter((name) => !named.includes(name))]).toEqual([path, []])
      if (!type.endsWith('json') || body === '') continue
      expect([path, validate(content.schema, JSON.parse(body))]).toEqual([path, null])
      fitted++
    }
    expect(fitted).toBeGreaterThan(10)
  })

  const event = JSON.parse(GOLDEN[0]?.bodies.json.toString('utf8') ?? '') as object
  const hal = JSON.parse(GOLDEN[0]?.bodies['hal.json'].toString('utf8') ?? '') as object
  const problem = { type: 'about:blank', title: 'Not Found', status: 404, detail: 'x', instance: '/' }
  it.each([
    ['Event', event, { Name: 5 }],
    ['Event', event, { Id: 'x' }],
    ['Event', event, { Id: null }],
    ['Event', event, { VenueId: '5F6C2A3E-8D0B-4C57-9E21-0A4B7D9C1E34' }],
    ['Event', event, { TicketCapacity: 1.5 }],
    ['Event', event, { TicketCapacity: 2_147_483_648 }],
    ['Event', event, { Start: '2014-11-22T19:30:00Z' }],
    ['Event', event, { Start: '2014-11-22T19:30:00' }],
    ['Event', event, { Start: '2014-13-22T19:30:00+00:00' }],
    ['Event', event, { Finish: null }],
    ['Event', event, { Price: '12.50' }],
    ['Event', event, { Tags: null }],
    ['Event', event, { Tags: [null] }],
    ['Event', event, { Tags: undefined }],
    ['Event', event, { _links: [] }],
    ['Event', event, { _links: [{ Rel: 'self', Href: '/' }] }],
    ['Event', event, { _embedded: [] }],
    ['Event', event, { _embedded: undefined }],
    ['HalEvent', hal, { Name: undefined }],
    ['HalEvent', hal, { _links: { self: { href: '/' } } }],
    ['HalEvent', hal, { _links: { self: { href: '/' }, venue: { href: 5 } } }],
    ['HalEvent', hal, { _links: { self: { href: '/' }, venue: { href: '/' }, x: [{ href: '/' }] } }],
    ['HalEvent', hal, { _links: { self: { href: '/', templated: false }, venue: { href: '/' } } }],
    ['Problem', problem, { status: '404' }],
    ['Problem', problem, { status: 418 }],
    ['Problem', problem, { detail: undefined }],
    ['Problem', problem, { traceId: 'x' }],
    ['EventPage', { Events: [event], _links: [], _embedded: null }, {}],
    ['EventPage', { Venues: [], _links: [], _embedded: null }, {}],
    ['HalEventPage', { _links: { self: { href: '/' } }, _embedded: { venue: [] } }, {}],
    ['HalEventPage', { _links: { self: { href: '/' } }, _embedded: { event: [{}] } }, {}],
  ])('refuse a wrong %s: %#', (name, right, change) => {
    const wrong: unknown = JSON.parse(JSON.stringify({ ...right, ...change }))
    expect(validate(refer(name), wrong)).not.toBeNull()
  })

  it.each([
    [
      'from',
      ['2026-07-12', '2026-07-12T19:30Z', '2026-07-12T19:30:00.1234567+01:00', '2026-07-12T19:30:00,5-09'],
      true,
    ],
    [
      'from',
      ['', 'tomorrow', '2026-07-12T19:30', '20260712', '2026-07-12 19:30Z', '2026-07-12T19:30:00.12345678Z'],
      false,
    ],
    ['tag', [['Folk'], ['Folk', 'Music']], true],
    ['tag', [['']], false],
    ['available', ['true'], true],
    ['available', ['false', '', 'TRUE'], false],
    ['limit', [1, 200], true],
    ['limit', [0, 201, 1.5], false],
    ['after', [''], false],
  ] as const)('of %s take what the service takes: %j, %p', (name, values, isTaken) => {
    const schema =
      document.paths['/api/events']?.get.parameters?.find((parameter) => parameter.name === name)?.schema ?? {}
    for (const value of values) {
      const pairs = [value].flat().map((each) => `${name}=${encodeURIComponent(each)}`)
      expect([value, validate(schema, value) === null]).toEqual([value, isTaken])
      expect([value, typeof readListQuery('events', pairs.join('&'), INSTANCE.zone) === 'object']).toEqual([
        value,
        isTaken,
      ])
    }
  })

  it('leave further members open', () => {
    expect(validate(refer('Event'), { ...event, Later: 1 })).toBeNull()
    expect(validate(refer('Problem'), { ...problem, Later: 1 })).toBeNull()
  })

  it('ask for the links that the operator configured', () => {
    const links = { event: [{ rel: 'tickets', href: 'https://t.example/{Id}', title: null }], venue: [] }
    const strict = validator(documentOf({ ...INSTANCE, links }))
    expect(strict(refer('HalEvent'), hal)).toContain('tickets')
    const linked = { ...hal, _links: { ...('_links' in hal ? (hal._links as object) : {}), tickets: { href: '/t' } } }
    expect(strict(refer('HalEvent'), linked)).toBeNull()
  })
})
