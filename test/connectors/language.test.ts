import { afterEach, describe, expect, it } from 'bun:test'
import type { Crm } from '../../src/sync/port.ts'
import { BOTH_RUNTIMES } from '../support/depth.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import { serve } from '../support/marquee-process.ts'
import { type Answer, type Asked, JsonServer } from './json-server.ts'
import { openConfigured, readList } from './replay.ts'

const left: { close(): unknown }[] = []
afterEach(async () => {
  for (const one of left.splice(0)) await one.close()
})

type Fields = Readonly<Record<string, unknown>>

function objectIn(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

/** Texts as Odoo stores them: by language, in the source language for all others. */
const NAME: Fields = { en_US: 'Summer concert', de_DE: 'Sommerkonzert', fr_FR: 'Concert d’été' }
const TAG: Fields = { en_US: 'Free entry', de_DE: 'Eintritt frei' }
const COUNTRY: Fields = { en_US: 'Germany', de_DE: 'Deutschland' }

/**
 * An Odoo whose texts are in several languages, by both APIs. Like addons/rpc/controllers/json2.py, it applies the
 * context of each request and knows no other language.
 */
class TranslatedOdoo {
  /** The language of the key's user; `null` if Odoo does not tell it. */
  userLanguage: string | null = 'de_DE'
  /** The languages of the requests for rows. */
  readonly asked: unknown[] = []

  readonly answer = (asked: Asked): Answer => {
    const body = objectIn(asked.body)
    if (asked.path !== '/jsonrpc') {
      const [, , , model = '', method] = asked.path.split('/')
      return method === 'context_get' ? this.#userContext((json) => json) : { json: this.#rows(model, body) }
    }
    const { method, args } = objectIn(body['params'])
    const [, , , model, called, [domain] = [], how] = args as readonly [0, 0, 0, string, string, unknown[]?, unknown?]
    const result = (json: unknown): unknown => ({ jsonrpc: '2.0', id: null, result: json })
    if (method === 'authenticate') return { json: result(2) }
    if (called === 'context_get') return this.#userContext(result)
    return { json: result(this.#rows(model, { ...objectIn(how), domain })) }
  }

  #userContext(wrapped: (json: unknown) => unknown): Answer {
    if (this.userLanguage === null) return { status: 404, json: { name: 'werkzeug.exceptions.NotFound' } }
    return { json: wrapped({ lang: this.userLanguage, tz: 'Europe/Berlin', uid: 2 }) }
  }

  #rows(model: string, { context, domain }: Fields): readonly Fields[] {
    const { lang = 'en_US' } = objectIn(context)
    this.asked.push(objectIn(context)['lang'])
    const text = (texts: Fields): unknown => texts[String(lang)] ?? texts['en_US']
    if (!JSON.stringify(domain).includes('["id",">",0]')) return []
    const stamp = { write_date: '2026-11-01 10:00:00', active: true }
    if (model === 'event.tag') return [{ id: 3, name: text(TAG) }]
    if (model === 'res.partner') return [{ id: 7, name: 'Hall', country_id: [57, text(COUNTRY)], ...stamp }]
    if (model !== 'event.event') return []
    const dates = { date_begin: '2036-07-01 17:30:00', date_end: '2036-07-01 20:00:00' }
    const seats = { seats_limited: false, seats_max: 0, seats_available: 0 }
    return [
      {
        id: 1,
        name: text(NAME),
        is_published: true,
        address_id: [7, 'Hall'],
        tag_ids: [3],
        ...dates,
        ...seats,
        ...stamp,
      },
    ]
  }
}

const VERSIONS = [
  ['JSON-2', ''],
  ['JSON-RPC', 'version: 18, user: admin, '],
] as const

async function open(more: string): Promise<{ crm: Crm; odoo: TranslatedOdoo }> {
  const odoo = new TranslatedOdoo()
  const server = await JsonServer.open(odoo.answer)
  const crm = await openConfigured(
    `crm: { kind: odoo, ${more}url: "${server.url}", database: d, key: { env: KEY }, idNamespace: 6f1f3c0e-5f0e-4c57-8a55-0d6c1c0a7e11, venues: { where: [] } }`,
    { KEY: 'k' },
  )
  left.push(crm, server)
  return { crm, odoo }
}

async function textsOf(crm: Crm): Promise<unknown> {
  const [events, venues] = [await readList(crm.events), await readList(crm.venues)]
  expect([events.failure, venues.failure]).toEqual(['', ''])
  return [events.records[0]?.Name, events.records[0]?.Tags[0], venues.records[0]?.AddressCountry]
}

describe.each(VERSIONS)('the texts of Odoo, by %s', (_, version) => {
  it('are in the language of the key’s user', async () => {
    const { crm, odoo } = await open(version)
    expect(await textsOf(crm)).toEqual(['Sommerkonzert', 'Eintritt frei', 'Deutschland'])
    expect(new Set(odoo.asked)).toEqual(new Set(['de_DE']))
  })

  it.each(['fr_FR', 'fr-FR'])('are in the language that crm.language names: %s', async (language) => {
    const { crm } = await open(`${version}language: ${language}, `)
    // What Odoo has no translation of comes in its source language.
    expect(await textsOf(crm)).toEqual(['Concert d’été', 'Free entry', 'Germany'])
  })

  it('follow the user to another language with the next full read', async () => {
    const { crm, odoo } = await open(version)
    await textsOf(crm)
    odoo.userLanguage = 'fr_FR'
    expect(await textsOf(crm)).toEqual(['Concert d’été', 'Free entry', 'Germany'])
    // While Odoo does not tell it, the last one holds.
    odoo.userLanguage = null
    expect(await textsOf(crm)).toEqual(['Concert d’été', 'Free entry', 'Germany'])
  })

  it('are in Odoo’s source language if it does not tell that of the user', async () => {
    const { crm, odoo } = await open(version)
    odoo.userLanguage = null
    expect(await textsOf(crm)).toEqual(['Summer concert', 'Free entry', 'Germany'])
    expect(new Set(odoo.asked)).toEqual(new Set([undefined]))
  })
})

describe('a service that reads Odoo', () => {
  it.each(BOTH_RUNTIMES)('publishes the texts of the key’s user on %s', async (runtime) => {
    const server = await JsonServer.open(new TranslatedOdoo().answer)
    const odoo = { kind: 'odoo', url: server.url, database: 'd', key: { env: 'CRM_KEY' }, venues: { where: [] } }
    const crm = { ...odoo, idNamespace: '6f1f3c0e-5f0e-4c57-8a55-0d6c1c0a7e11' }
    const directory = new FilesDirectory({ snapshot: null, crm }, null)
    const { child, listening } = await serve(runtime, directory.configuration, { CRM_KEY: 'k' })
    expect(await (await fetch(listening.try ?? '')).text()).toContain('"Name":"Sommerkonzert"')
    await child.stop()
    directory.remove()
    await server.close()
  })
})
