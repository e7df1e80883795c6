import { describe, expect, it } from 'bun:test'
import type { ColumnSource } from '../../src/config/crm/sources.ts'
import { containing } from './containing.ts'
import { eventValues, fill, idOf } from './environment.ts'
import { Fixture } from './fixture.ts'
import { refusal } from './reply.ts'
import type { RigOptions } from './rig.ts'

const environment = new Fixture()

async function failure(options: RigOptions = {}): Promise<{ readonly kind: string; readonly message: string }> {
  const rig = await environment.rig(options)
  const attempt = await rig.replica.events.refresh.attempt()
  if (attempt.ok) throw new Error('it succeeded')
  return attempt.failure
}

const column = (name: string): ColumnSource => ({ kind: 'column', column: name, whenBlank: null, label: false })
const mapped = (fields: Readonly<Record<string, ColumnSource>>, from = 'msevtmgt_events'): RigOptions => ({
  settings: { events: { from, fields } },
})

describe('what is wrong is said in an admin’s words', () => {
  it('a wrong tenant', async () => {
    const found = await failure({ settings: { tenant: 'contoso.example' } })
    expect(found.kind).toBe('refused')
    expect(found.message).toContain('the tenant contoso.example does not exist')
    expect(found.message).toContain('AADSTS90002')
  })

  it('a wrong application', async () => {
    const found = await failure({ settings: { clientId: '22222222-2222-2222-2222-222222222222' } })
    expect(found).toMatchObject({ kind: 'refused', message: containing('crm.clientId') })
  })

  it('a wrong secret, and one that has expired', async () => {
    const secret = { text: 'wrong-secret', name: 'the environment variable SECRET', reread: null }
    const wrong = await failure({ secret })
    expect(wrong).toMatchObject({
      kind: 'refused',
      message: containing('the client secret is wrong: the environment variable SECRET'),
    })
    environment.standIn.directory.secretHasExpired = true
    const expired = await failure()
    expect(expired).toMatchObject({ kind: 'refused', message: containing('has expired') })
  })

  it('an environment that the directory does not know', async () => {
    environment.standIn.directory.origin = 'https://other.crm.dynamics.com'
    expect(await failure()).toMatchObject({ kind: 'refused', message: containing('is crm.url right') })
  })

  it('no application user', async () => {
    const reply = refusal(403, '0x80072560', 'The user is not a member of the organization.')
    environment.standIn.trap('events', { kind: 'reply', reply })
    expect(await failure()).toMatchObject({ kind: 'refused', message: containing('no application user') })
  })

  it('a missing privilege, by its name', async () => {
    const message = 'Principal user (Id=1, type=8) is missing prvReadmsevtmgt_Event privilege (Id=2) on OTC=10338'
    environment.standIn.trap('events', { kind: 'reply', reply: refusal(403, '0x80040220', message) })
    const found = await failure()
    expect(found.kind).toBe('refused')
    expect(found.message).toContain('msevtmgt_events: the application user lacks the privilege prvReadmsevtmgt_Event')
    expect(found.message).toContain('organization level')
  })

  it('a privilege whose name is longer than any is, without it: it may be anything', async () => {
    const message = `is missing prvRead${'x'.repeat(1000)} privilege`
    environment.standIn.trap('events', { kind: 'reply', reply: refusal(403, '', message) })
    const found = await failure()
    expect(found.message).toContain('lacks a privilege:')
    expect(found.message.length).toBeLessThan(200)
  })

  it('a 304, which nobody asked for and which leads nowhere', async () => {
    environment.standIn.trap('events', { kind: 'reply', reply: { status: 304, headers: {}, body: '' } })
    const found = await failure()
    expect(found.kind).toBe('broken')
    expect(found.message).toContain('the status 304, which is no answer to the request')
    expect(found.message).not.toContain('redirect')
  })

  it('unknown columns, all of them, each with the nearest', async () => {
    const found = await failure(mapped({ Tags: column('cr5_tagz'), Name: column('msevtmgt_nane') }))
    expect(found.kind).toBe('misconfigured')
    expect(found.message).toContain('cr5_tagz (crm.events.fields.Tags; did you mean cr5_tags?)')
    expect(found.message).toContain('msevtmgt_nane (crm.events.fields.Name; did you mean msevtmgt_name?)')
  })

  it('an unknown column by its name alone, where definitions may not be read', async () => {
    environment.standIn.trap('EntityDefinitions', { kind: 'reply', reply: refusal(403, '', 'no') })
    const found = await failure(mapped({ Tags: column('cr5_tagz') }))
    expect(found).toMatchObject({ kind: 'misconfigured', message: containing('the column cr5_tagz') })
  })

  it('an unknown column of labels as any other, with the nearest', async () => {
    const found = await failure(mapped({ Tags: { ...column('cr5_tagz'), label: true } }))
    expect(found.kind).toBe('misconfigured')
    expect(found.message).toContain('cr5_tagz (crm.events.fields.Tags; did you mean cr5_tags?)')
  })

  it('a column of labels that has no choices', async () => {
    const found = await failure(mapped({ Tags: { ...column('msevtmgt_name'), label: true } }))
    expect(found).toMatchObject({ kind: 'misconfigured', message: containing('is it a column of choices?') })
  })

  it('an unknown table, with the nearest; the logical name is not the set’s', async () => {
    const found = await failure(mapped({}, 'msevtmgt_evnts'))
    expect(found).toMatchObject({
      kind: 'misconfigured',
      message: containing('did you mean msevtmgt_events?'),
    })
    expect((await failure(mapped({}, 'msevtmgt_event'))).message).toContain('did you mean msevtmgt_events?')
  })

  it('a server that is not there, without the words of the runtime', async () => {
    const found = await failure({ settings: { url: 'http://127.0.0.1:9', authority: 'http://127.0.0.1:9' } })
    expect(found).toMatchObject({
      kind: 'unreachable',
      message: 'events: 127.0.0.1:9 refused the connection (ECONNREFUSED)',
    })
  })
})

describe('a column is named as people know it', () => {
  it('a lookup as x or _x_value, wherever it stands', async () => {
    fill(environment, 2)
    for (const name of ['msevtmgt_primaryvenue', '_msevtmgt_primaryvenue_value']) {
      const rig = await environment.rig(mapped({ VenueId: column(name) }))
      expect(await rig.replica.events.refresh.attempt()).toEqual({ ok: true })
      expect(rig.replica.events.list.served).toBe(2)
    }
    // As a text it is found out by the table's definition.
    const rig = await environment.rig(mapped({ Name: column('msevtmgt_primaryvenue') }))
    expect(await rig.replica.events.refresh.attempt()).toEqual({ ok: true })
    expect(rig.replica.events.list.served).toBe(2)
  })

  it('an id of a venue that is no lookup', async () => {
    environment.events.put(idOf(1), eventValues(1, { cr5_opensat: idOf(0x1_0001) }))
    const rig = await environment.rig(mapped({ VenueId: column('cr5_opensat') }))
    expect(await rig.replica.events.refresh.attempt()).toEqual({ ok: true })
    expect(rig.replica.events.list.served).toBe(1)
  })
})
