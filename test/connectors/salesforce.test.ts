import { afterEach, describe, expect, it } from 'bun:test'
import { createServer } from 'node:http'
import type { Crm } from '../../src/sync/port.ts'
import { openConfigured, readList } from './replay.ts'

const NAMESPACE = '6f1f3c0e-5f0e-4c57-8a55-0d6c1c0a7e11'
const left: { close(): unknown }[] = []
afterEach(async () => {
  for (const one of left.splice(0)) await one.close()
})

interface Org {
  readonly origin: string
  /** What was asked: the SOQL, or the path. */
  readonly asked: string[]
  readonly unknown: string[]
}

/** An org that knows only these queries, in the shapes of the REST API's documents; anything else is a 500. */
async function openOrg(queries: Readonly<Record<string, unknown>>, secret = 'secret-word'): Promise<Org> {
  const org: Org & { origin: string } = { origin: '', asked: [], unknown: [] }
  let tokens = 0
  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (part: string) => (text += part))
    request.on('end', () => {
      const { pathname, searchParams } = new URL(request.url ?? '', org.origin)
      const soql = searchParams.get('q')
      // Of a time only this is of interest: whether it is that of the rows or far ahead.
      const timeless = soql?.replace(/2026-11-20T21:[\d:.]+Z/, '2026').replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/, 'AHEAD')
      const key = timeless === undefined ? pathname : `${pathname.replace(/^.*\//, '')}: ${timeless}`
      org.asked.push(key)
      const reply = (status: number, json: unknown): void => {
        response.writeHead(status, { 'content-type': 'application/json' })
        response.end(JSON.stringify(json))
      }
      if (pathname === '/services/oauth2/token') {
        const form = new URLSearchParams(text)
        const isForm = request.headers['content-type']?.split(';')[0] === 'application/x-www-form-urlencoded'
        const isRight =
          isForm && form.get('grant_type') === 'client_credentials' && form.get('client_secret') === secret
        if (isRight) reply(200, { access_token: `00D!token-${++tokens}`, token_type: 'Bearer' })
        else reply(400, { error: 'invalid_client', error_description: 'invalid client credentials' })
      } else if (request.headers['authorization'] !== `Bearer 00D!token-${tokens}`) {
        reply(401, [{ errorCode: 'INVALID_SESSION_ID', message: 'Session expired or invalid' }])
      } else if (key in queries) reply(200, queries[key])
      else {
        org.unknown.push(key)
        reply(500, [{ errorCode: 'UNKNOWN' }])
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  org.origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
  left.push({ close: () => server.close() })
  return org
}

const VENUES = 'venues: { from: Venue__c, fields: { AddressCity: City__c } }'
const EVENTS =
  'events: { from: Event__c, fields: { VenueId: Venue__c, Start: Starts__c, Finish: Ends__c, Price: Price__c, Tags: { column: Kind__r.Name } }, showOnWeb: { OnWeb__c: [true] } }'

async function openAt(org: Org, lists = `${EVENTS}, ${VENUES}`): Promise<Crm> {
  const crm = await openConfigured(
    `timeZone: Europe/Berlin\ncrm: { kind: salesforce, url: "${org.origin}", clientId: app, clientSecret: { env: SECRET }, idNamespace: ${NAMESPACE}, ${lists} }`,
    { SECRET: 'secret-word' },
  )
  left.push(crm)
  return crm
}

const SELECT = 'SELECT Id, SystemModstamp, Name, City__c FROM Venue__c'
const row = (number: number, more: Readonly<Record<string, unknown>> = {}): unknown => ({
  attributes: { type: 'Venue__c', url: `/services/data/v64.0/sobjects/Venue__c/a0${number}` },
  Id: `a0300000000000${number}AAA`,
  SystemModstamp: `2026-11-20T21:52:0${number}.000+0000`,
  Name: `Hall ${number}`,
  City__c: 'Bristol',
  ...more,
})
const page = (records: readonly unknown[], totalSize: number, next?: string): unknown => ({
  totalSize,
  done: next === undefined,
  ...(next === undefined ? {} : { nextRecordsUrl: next }),
  records,
})

describe('Salesforce', () => {
  it('reads an object in pages, with a token by client credentials that is kept', async () => {
    const org = await openOrg({
      [`query: ${SELECT} ORDER BY Id`]: page([row(1), row(2)], 3, '/services/data/v64.0/query/01g-2'),
      '/services/data/v64.0/query/01g-2': page([row(3)], 3),
    })
    const crm = await openAt(org)
    const { failure, records } = await readList(crm.venues)
    expect([failure, org.unknown]).toEqual(['', []])
    expect(crm.readings?.[0]?.requests.get('full')).toBe(2)
    expect(records.map(({ Name, AddressCity }) => [Name, AddressCity])).toEqual([
      ['Hall 1', 'Bristol'],
      ['Hall 2', 'Bristol'],
      ['Hall 3', 'Bristol'],
    ])
    await readList(crm.venues)
    expect(org.asked.filter((key) => key === '/services/oauth2/token').length).toBe(1)
  })

  it('reads a Time field beside a Date field as wall time, though it ends with Z', async () => {
    const asked = 'SELECT Id, SystemModstamp, Name, Day__c, From__c, To__c FROM Event__c ORDER BY Id'
    const times = { Day__c: '2036-07-01', From__c: '19:30:00.000Z', To__c: '01:00:00.000Z' }
    const org = await openOrg({ [`query: ${asked}`]: page([row(1, times)], 1) })
    const fields = 'Start: { join: [Day__c, From__c] }, Finish: { join: [Day__c, To__c] }, Price: null'
    const crm = await openAt(org, `events: { from: Event__c, fields: { ${fields} }, showOnWeb: null }, ${VENUES}`)
    const { failure, records } = await readList(crm.events)
    expect([failure, org.unknown]).toEqual(['', []])
    expect(records.map(({ Start, Finish }) => `${Start} ${Finish}`)).toEqual([
      '2036-07-01T19:30:00+02:00 2036-07-02T01:00:00+02:00',
    ])
  })

  it('selects the columns of fields and conditions, also those of another object', async () => {
    const org = await openOrg({})
    await readList((await openAt(org)).events)
    expect(org.unknown[0]).toBe(
      'query: SELECT Id, SystemModstamp, Name, Venue__c, Starts__c, Ends__c, Price__c, Kind__r.Name, OnWeb__c FROM Event__c ORDER BY Id',
    )
  })

  it('takes a text as tags, separated by semicolons as in a multi-select picklist', async () => {
    const event = (number: number, kind: string | null): unknown =>
      row(number, {
        Venue__c: 'a03000000000001AAA',
        Starts__c: '2036-07-12T19:30:00.000+0000',
        Ends__c: '2036-07-12T22:00:00.000+0000',
        Price__c: 12.5,
        Kind__r: kind === null ? null : { attributes: { type: 'Kind__c' }, Name: kind },
        OnWeb__c: true,
      })
    const select =
      'SELECT Id, SystemModstamp, Name, Venue__c, Starts__c, Ends__c, Price__c, Kind__r.Name, OnWeb__c FROM Event__c'
    const kinds = ['Concert', 'Concert;Jazz; ;', '', null]
    const events = kinds.map((kind, index) => event(index + 1, kind))
    const org = await openOrg({ [`query: ${select} ORDER BY Id`]: page(events, 4) })
    const { failure, records } = await readList((await openAt(org)).events)
    expect(failure).toBe('')
    expect(records.map(({ Tags }) => Tags)).toEqual([['Concert'], ['Concert', 'Jazz'], [], []])
  })

  it('keeps all promises that users’ connectors are examined for', async () => {
    const rows = [row(1), row(2), row(3), row(4)]
    const events = 'SELECT Id, SystemModstamp, Name, Venue__c, Starts__c, Ends__c, Price__c, Kind__r.Name, OnWeb__c'
    const wanted = [1, 2, 3].map((number) => `'a0300000000000${number}AAA'`).join(', ')
    const queries = (known: readonly unknown[]): Readonly<Record<string, unknown>> => ({
      [`query: ${events} FROM Event__c ORDER BY Id`]: page([], 0),
      'query: SELECT Id, SystemModstamp FROM Event__c ORDER BY Id': page([], 0),
      [`query: ${events} FROM Event__c WHERE SystemModstamp >= AHEAD ORDER BY SystemModstamp`]: page([], 0),
      'queryAll: SELECT Id FROM Event__c WHERE IsDeleted = true AND SystemModstamp >= AHEAD': page([], 0),
      [`query: ${SELECT} ORDER BY Id`]: page(rows, 4),
      [`query: ${SELECT} WHERE SystemModstamp >= AHEAD ORDER BY SystemModstamp`]: page([], 0),
      'queryAll: SELECT Id FROM Venue__c WHERE IsDeleted = true AND SystemModstamp >= AHEAD': page([], 0),
      [`query: ${SELECT} WHERE Id IN (${wanted})`]: page(rows.slice(0, 3), 3),
      'query: SELECT Id, SystemModstamp FROM Venue__c ORDER BY Id': page(known, known.length),
    })
    const org = await openOrg(queries(rows))
    expect([await (await openAt(org)).conform?.(true), org.unknown]).toEqual([[], []])
    const forgetful = await openAt(await openOrg(queries(rows.slice(1))))
    expect(await forgetful.conform?.(true)).toMatchObject([
      { sentence: expect.stringContaining('ids lacks 1 of 4 rows of full') as string, losesRows: true },
    ])
  })

  it('fails a read that brings fewer rows than totalSize', async () => {
    const org = await openOrg({ [`query: ${SELECT} ORDER BY Id`]: page([row(1)], 3) })
    const { failure } = await readList((await openAt(org)).venues)
    expect(failure).toStartWith('broken: venues: ')
  })

  it('reads what changed, and takes what lies in the recycle bin as deleted', async () => {
    const org = await openOrg({
      [`query: ${SELECT} ORDER BY Id`]: page([row(1), row(2)], 2),
      [`query: ${SELECT} WHERE SystemModstamp >= 2026 ORDER BY SystemModstamp`]: page(
        [row(2, { Name: 'Hall 2, rebuilt' })],
        1,
      ),
      'queryAll: SELECT Id FROM Venue__c WHERE IsDeleted = true AND SystemModstamp >= 2026': page(
        [{ Id: 'a03000000000001AAA' }],
        1,
      ),
      [`query: ${SELECT} WHERE SystemModstamp >= AHEAD ORDER BY SystemModstamp`]: page([], 0),
      'queryAll: SELECT Id FROM Venue__c WHERE IsDeleted = true AND SystemModstamp >= AHEAD': page([], 0),
    })
    const crm = await openAt(org)
    const { cursor } = await readList(crm.venues)
    const { failure, changes } = await readList(crm.venues, 'changes', cursor)
    expect([failure, org.unknown]).toEqual(['', []])
    expect(changes.map((change) => ('record' in change ? change.record.Name : change.kind))).toEqual([
      'Hall 2, rebuilt',
      'deleted',
    ])
  })

  it('asks for a new token at the read after a session ended', async () => {
    const queries: Record<string, unknown> = { [`query: ${SELECT} ORDER BY Id`]: page([row(1)], 1) }
    const org = await openOrg(queries)
    const crm = await openAt(org)
    await readList(crm.venues)
    // A token for somebody else ends this one's session.
    await fetch(`${org.origin}/services/oauth2/token`, {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'client_credentials', client_secret: 'secret-word' }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
    const failures = [await readList(crm.venues), await readList(crm.venues)].map(({ failure }) => failure)
    expect(failures.at(-1)).toBe('')
  })

  it('says that the client is refused, without its secret', async () => {
    const org = await openOrg({}, 'another-word')
    const { failure } = await readList((await openAt(org)).venues)
    expect(failure).toMatch(/^refused: venues: 127\.0\.0\.1:\d+ refuses the key \(invalid_client\)$/)
  })
})
