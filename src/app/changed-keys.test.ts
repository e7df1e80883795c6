import { expect, it } from 'bun:test'
import { changedKeys } from './reload.ts'
import type { Configuration } from '../config/configuration.ts'
import { loadConfiguration } from '../config/read-configuration.ts'

const POSTGRES = `crm: { kind: postgres, url: { file: url }, events: { from: e }, venues: { from: v } }\n`

async function configured(text: string, url = 'postgres://me:old@h/d'): Promise<Configuration> {
  const readFile = async (): Promise<Uint8Array> => new TextEncoder().encode(url)
  const loaded = await loadConfiguration({ path: 'marquee.yaml', text, env: { A: 'one', B: 'two' }, readFile })
  if (!loaded.ok) throw new Error(loaded.problems.map(({ message }) => message).join())
  return loaded.configuration
}

async function changes(before: string, after: string): Promise<unknown> {
  return changedKeys(await configured(before), await configured(after))
}

it('finds nothing changed where all is as it was', async () => {
  expect(await changes(POSTGRES, `${POSTGRES}# a comment`)).toEqual({ changed: [], fixed: [], later: [] })
})

it('lets the maximum age change without what a CRM derives of it', async () => {
  const after = `${POSTGRES}freshness: { maxAge: 10s }`
  expect(await changes(POSTGRES, after)).toEqual({ changed: ['freshness.maxAge'], fixed: [], later: [] })
})

it('names what only a restart changes, secrets and zones by their keys alone', async () => {
  const of = (token: string, zone: string): string =>
    `${POSTGRES}timeZone: ${zone}\noperations: { token: { env: ${token} } }\nlimits: { idle: 1${token === 'A' ? 0 : 1}s }`
  expect(await changes(of('A', 'UTC'), of('B', 'Europe/Berlin'))).toEqual({
    changed: ['operations.token', 'timeZone', 'limits.idle', 'crm.timeZone'],
    fixed: ['operations.token', 'timeZone', 'crm.timeZone'],
    later: [],
  })
  expect(await changes(POSTGRES, `${POSTGRES}operations: null`)).toMatchObject({ fixed: ['operations'] })
})

it('names a changed mapping by the keys that the file has', async () => {
  const of = (keys: string): string => `crm: { kind: files, directory: ., events: { ${keys} } }`
  const before = of('fields: { Id: a, Start: b, Name: c }, active: { State: [open] }')
  const after = of('fields: { Id: a, Start: { join: [b, d] }, Name: e }, active: { State: [open, full] }, from: x.csv')
  expect(await changes(before, after)).toMatchObject({
    fixed: ['crm.events.from', 'crm.events.active', 'crm.events.fields.Name', 'crm.events.fields.Start'],
  })
  const decimal = of(`fields: { Id: a, Start: b, Name: c }, active: { State: [open] }, texts: { decimal: ',' }`)
  expect(await changes(before, decimal)).toMatchObject({ fixed: ['crm.events.texts.decimal'] })
  const whole = 'crm: { kind: files, directory: . }'
  expect(await changes(whole, of('active: null'))).toMatchObject({ fixed: ['crm.events'] })
})

it('names another kind of CRM by that alone', async () => {
  expect(await changes(POSTGRES, 'crm: { kind: files, directory: . }')).toMatchObject({ fixed: ['crm.kind'] })
})

it('has a time zone that is now written, and is the same, wait for a restart', async () => {
  const after = `${POSTGRES}timeZone: UTC\nlists: on`
  expect(await changes(POSTGRES, after)).toEqual({ changed: ['lists'], fixed: [], later: ['timeZone'] })
})

it('lets the representation change, but not which further fields there are, nor their order', async () => {
  const of = (further: string, namespace: string): string =>
    `crm: { kind: files, directory: . }\nrepresentation: { namespace: ${namespace}, further: { events: { ${further} } } }`
  expect(await changes(of('A: text, B: flag', 'One'), of('B: flag, A: text', 'Two'))).toEqual({
    changed: ['representation.namespace', 'representation.further.events'],
    fixed: ['representation.further.events'],
    later: [],
  })
})

it('takes a secret of the CRM that its file now holds another text of for the same: it is read again when it is refused', async () => {
  const before = await configured(POSTGRES)
  expect(changedKeys(before, await configured(POSTGRES, 'postgres://me:new@h/d'))).toEqual({
    changed: [],
    fixed: [],
    later: [],
  })
})

it('finds a changed URL or secret of a webhook, and a changed order', async () => {
  const one = `crm: { kind: files, directory: . }\nfeeds: { changes: on }\nwebhooks: [{ url: https://a.example/1, body: empty }, { url: https://a.example/2, body: empty }]`
  const signed = one.replace('/1', '/1, secret: { file: key }')
  const secretOf = (byte: number): string => `whsec_${Buffer.alloc(24, byte).toString('base64')}`
  const changed = { changed: ['webhooks'], fixed: [], later: [] }
  expect(await changes(one, one)).toMatchObject({ changed: [] })
  for (const other of [
    one.replace('/2', '/3'),
    one.replace('/1', '/9').replace('/2', '/1').replace('/9', '/2'),
    signed,
  ])
    expect(changedKeys(await configured(one, secretOf(1)), await configured(other, secretOf(1)))).toEqual(changed)
  expect(changedKeys(await configured(signed, secretOf(1)), await configured(signed, secretOf(2))).changed).toContain(
    'webhooks',
  )
})
