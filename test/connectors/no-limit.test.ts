import { describe, expect, it } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runInNewContext } from 'node:vm'
import { NO_LIMIT } from '../../src/domain/event.ts'
import { ROOT } from '../support/child.ts'
import { BOTH_RUNTIMES } from '../support/depth.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import { serve } from '../support/marquee-process.ts'
import { type Answer, type Asked, JsonServer } from './json-server.ts'

const BEGINS = { date_begin: '2036-07-01 17:30:00', date_end: '2036-07-01 20:00:00' }
const ODOO = {
  active: true,
  is_published: true,
  address_id: false,
  tag_ids: [],
  write_date: '2026-11-01 10:00:00',
  ...BEGINS,
}
/** An event without a limit, one that is sold out, and one whose limit was removed when it was sold out. */
const ODOO_EVENTS = [
  { id: 1, name: 'Without a limit', seats_limited: false, seats_max: 0, seats_available: 0, ...ODOO },
  { id: 2, name: 'Sold out', seats_limited: true, seats_max: 50, seats_available: 0, ...ODOO },
  { id: 3, name: 'No longer limited', seats_limited: false, seats_max: 50, seats_available: 0, ...ODOO },
]

const CIVICRM = {
  is_active: true,
  is_public: true,
  loc_block_id: null,
  start_date: '2036-07-01 19:30:00',
  end_date: '2036-07-01 22:00:00',
}
const CIVICRM_EVENTS = [
  { id: 1, title: 'Without a limit', max_participants: null, ...CIVICRM },
  { id: 2, title: 'Sold out', max_participants: 7, ...CIVICRM },
  { id: 3, title: 'No longer limited', max_participants: null, ...CIVICRM },
]

/** Answers as Odoo and as CiviCRM: each model has one page. */
function answerOf({ path, body, query }: Asked): Answer {
  const isLater = !JSON.stringify(body ?? query.get('params'))
    .replaceAll('\\', '')
    .includes('["id",">",0]')
  if (path === '/json/2/event.event/search_read') return { json: isLater ? [] : ODOO_EVENTS }
  if (path.startsWith('/json/2/')) return { json: [] }
  if (path.endsWith('/Event/get')) return { json: { values: isLater ? [] : CIVICRM_EVENTS } }
  const taken = [1, 2, 3].map((event_id) => ({ event_id, number: 7 }))
  return { json: { values: path.endsWith('/Participant/get') ? taken : [] } }
}

/** What the example in docs/consuming.md prints about the tickets of an event. */
function ticketsOf(event: object): unknown {
  const page = readFileSync(join(ROOT, 'docs/consuming.md'), 'utf8')
  const [, example = ''] = /^(const left = .*\nconsole\.log\(event\.TicketsAvailable .*)$/m.exec(page) ?? []
  const printed: unknown[] = []
  runInNewContext(example, { event, console: { log: (text: unknown) => printed.push(text) } })
  return printed[0]
}

const KINDS = [
  ['odoo', { database: 'd', venues: { where: [] }, events: { fields: { Price: { value: '5' } } } }],
  ['civicrm', { events: { fields: { Price: { value: '5' } } } }],
] as const

describe.each(KINDS)('events of %s without a limit', (kind, settings) => {
  it.each(BOTH_RUNTIMES)('are not sold out, in any answer: %s', async (runtime) => {
    const server = await JsonServer.open(answerOf)
    const directory = new FilesDirectory(
      {
        timeZone: 'Europe/Berlin',
        lists: true,
        snapshot: null,
        feeds: { calendar: true, jsonLd: true, atom: false, changes: false, language: 'en-GB' },
        representation: { currency: 'EUR', page: 'https://www.example.org/{Id}' },
        crm: {
          kind,
          url: server.url,
          key: { env: 'CRM_KEY' },
          idNamespace: '6f1f3c0e-5f0e-4c57-8a55-0d6c1c0a7e11',
          ...settings,
        },
      },
      null,
    )
    const { child, listening } = await serve(runtime, directory.configuration, { CRM_KEY: 'k' })
    const ask = async (path: string, accept = 'application/json'): Promise<string> =>
      (await fetch(`${listening.address}api/${path}`, { headers: { Accept: accept } })).text()
    const all = JSON.parse(await ask('events')) as { readonly Events: readonly Record<string, unknown>[] }
    const told = all.Events.map(({ Name, ...event }) => [
      Name,
      event['TicketCapacity'],
      event['TicketsAvailable'],
      ticketsOf(event),
    ])
    expect(told.toSorted(([left], [right]) => String(left).localeCompare(String(right)))).toEqual([
      ['No longer limited', NO_LIMIT, NO_LIMIT, 'no limit'],
      ['Sold out', kind === 'odoo' ? 50 : 7, 0, 'sold out'],
      ['Without a limit', NO_LIMIT, NO_LIMIT, 'no limit'],
    ])
    const left = await ask('events?available=true')
    expect([left.includes('"Without a limit"'), left.includes('"Sold out"')]).toEqual([true, false])
    const calendar = await ask('events.ics?available=true')
    expect(
      calendar
        .match(/^SUMMARY:.*$/gm)
        ?.map((line) => line.trim())
        .toSorted(),
    ).toEqual(['SUMMARY:No longer limited', 'SUMMARY:Without a limit'])
    for (const { Id, Name } of all.Events) {
      const offers: unknown = JSON.parse(await ask(`events/${String(Id)}`, 'application/ld+json'))
      const availability = `https://schema.org/${Name === 'Sold out' ? 'SoldOut' : 'InStock'}`
      expect(offers).toMatchObject({ offers: { availability } })
    }
    await child.stop()
    directory.remove()
    await server.close()
  })
})
