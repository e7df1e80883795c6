import { describe, expect, it } from 'bun:test'
import { loadConfiguration } from '../config/read-configuration.ts'
import { dataFingerprint, dataFingerprintOf } from './data-fingerprint.ts'

async function fingerprint(
  text: string,
  url = 'postgres://user:word@db.example.org/crm',
  numbers = [1, 1],
): Promise<string> {
  const env = { URL: url, SECRET: 'one', OTHER: 'two' }
  const loaded = await loadConfiguration({ path: '/etc/m.yaml', text, env, readFile: async () => new Uint8Array() })
  if (!loaded.ok) throw new Error(loaded.problems.map(({ key, message }) => `${key} ${message}`).join())
  return dataFingerprintOf(loaded.configuration, numbers)
}

function declaring(further: string): string {
  return `representation: { further: { ${further} } }\n`
}

const POSTGRES = `crm:
  kind: postgres
  url: { env: URL }
  events: { from: events, fields: { Name: title, Price: price } }
  venues: { from: venues }
`
const DATAVERSE = `crm:
  kind: dataverse
  url: https://example.crm11.dynamics.com
  tenant: example.org
  clientId: a
  clientSecret: { env: SECRET }
`

describe('the fingerprint of a configuration', () => {
  it('is 12 hexadecimal digits', async () => {
    expect(await fingerprint(POSTGRES)).toMatch(/^[0-9a-f]{12}$/)
  })

  it('stays if records stay: with other credentials, intervals and formats of answers', async () => {
    const postgres = await fingerprint(POSTGRES)
    const same = [
      `representation: { namespace: Other }\nfreshness: { maxAge: 3m }\nlisten: { port: 1 }\nlists: on\n${POSTGRES}`,
      `${POSTGRES}  idScanEvery: 1s\n  listen: channel\n  requestTimeout: 1s\n`,
      POSTGRES.replace('Name: title, Price: price', 'Price: price, Name: title'),
    ]
    for (const text of same) expect(await fingerprint(text)).toBe(postgres)
    expect(await fingerprint(POSTGRES, 'postgres://other:secret@db.example.org:5432/crm?sslmode=disable')).toBe(
      postgres,
    )
    const dataverse = await fingerprint(DATAVERSE)
    expect(await fingerprint(DATAVERSE.replace('clientId: a', 'clientId: b').replace('SECRET', 'OTHER'))).toBe(
      dataverse,
    )
  })

  it('is another if a connector declares another mapping', async () => {
    const loaded = await loadConfiguration({
      path: '/etc/m.yaml',
      text: 'crm: { kind: files, directory: ./a }',
      env: {},
      readFile: async () => new Uint8Array(),
    })
    if (!loaded.ok) throw new Error('it is a configuration')
    const of = (mapping?: unknown): string | null => dataFingerprint(loaded.configuration, { mapping })
    const found = [of(), of([{ showOnWeb: ['a', 'b'] }]), of([{ showOnWeb: ['a'] }]), of([{ code: '1' }]), of(null)]
    expect(new Set(found).size).toBe(5)
    expect(found[4]).toBeNull()
  })

  it('knows the language of Dataverse by its older name, labels', async () => {
    const german = await fingerprint(`${DATAVERSE}  language: 1031\n`)
    expect(await fingerprint(`${DATAVERSE}  labels: 1031\n`)).toBe(german)
  })

  it('is what it was in releases without further fields, if none is declared', async () => {
    expect(await fingerprint('crm: { kind: files, directory: ./a }')).toBe(
      await fingerprint(`${declaring('events: {}, venues:')}crm: { kind: files, directory: ./a }`),
    )
  })

  it('is another where any record may be', async () => {
    const scopes = [
      await fingerprint(POSTGRES),
      await fingerprint(POSTGRES, undefined, [2, 1]),
      await fingerprint(POSTGRES, undefined, [1, 2]),
      await fingerprint(POSTGRES, 'postgres://user:word@db.example.org/other'),
      await fingerprint(POSTGRES, 'postgres://user:word@db2.example.org/crm'),
      await fingerprint(`timeZone: Europe/London\n${POSTGRES}`),
      await fingerprint(POSTGRES.replace('Name: title', 'Name: name')),
      await fingerprint(POSTGRES.replace('from: venues', 'from: venues, active: null')),
      await fingerprint(`${POSTGRES}  idNamespace: 6ba7b810-9dad-11d1-80b4-00c04fd430c8\n`),
      await fingerprint(DATAVERSE),
      await fingerprint(`${DATAVERSE}  language: 1031\n`),
      await fingerprint(DATAVERSE.replace('crm11', 'crm4')),
      await fingerprint('crm: { kind: files, directory: ./a }'),
      await fingerprint(`${declaring('events: { A: text, B: text }')}crm: { kind: files, directory: ./a }`),
      await fingerprint(`${declaring('events: { B: text, A: text }')}crm: { kind: files, directory: ./a }`),
      await fingerprint(`${declaring('events: { A: text, B: texts }')}crm: { kind: files, directory: ./a }`),
      await fingerprint(`${declaring('venues: { A: text, B: text }')}crm: { kind: files, directory: ./a }`),
      await fingerprint('crm: { kind: files, directory: ./b }'),
      await fingerprint('crm: { kind: files, directory: ./b, timeZone: Europe/London }'),
    ]
    expect(new Set(scopes).size).toBe(scopes.length)
  })
})
