import { expect, it } from 'bun:test'
import { assembleAlone } from '../../src/app/assemble.ts'
import type { Configuration } from '../../src/config/configuration.ts'
import { loadConfiguration } from '../../src/config/read-configuration.ts'
import { systemTime } from '../../src/time/time.ts'

const CRMS = {
  files: '{ kind: files, directory: /nowhere }',
  postgres: '{ kind: postgres, url: { env: URL }, events: { from: e }, venues: { from: v } }',
  dataverse: `{ kind: dataverse, url: 'https://example.crm11.dynamics.com', tenant: 00000000-0000-0000-0000-000000000000,
    clientId: 11111111-1111-1111-1111-111111111111, clientSecret: { env: URL } }`,
}

async function configured(crm: string, bound: string): Promise<Configuration> {
  const text = `freshness: { maxAge: ${bound} }\ncrm: ${crm}`
  const readFile = (): Promise<never> => Promise.reject(new Error('no file is named'))
  const loaded = await loadConfiguration({ path: 'marquee.yaml', text, env: { URL: 'postgres://me@h/d' }, readFile })
  if (!loaded.ok) throw new Error(loaded.problems.map(({ message }) => message).join())
  return loaded.configuration
}

it.each(Object.entries(CRMS))(
  'a reload gives %s the time for an exchange that the new maximum age leaves',
  async (_, crm) => {
    const marquee = await assembleAlone(await configured(crm, '30s'), systemTime, () => {})
    const before = marquee.crm.events.patienceMs
    await marquee.adopt(await configured(crm, '3s'))
    // Two exchanges to a page: of 10 s at most, or of a third of the maximum age.
    expect(before - marquee.crm.events.patienceMs).toBe(2 * 10_000 - 2 * 1000)
    await marquee.crm.close()
  },
)
