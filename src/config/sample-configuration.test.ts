import { expect, it } from 'bun:test'
import { loadConfiguration } from './load-configuration.ts'
import { readSmallFile } from './read-text.ts'
import { sampleConfiguration } from './load-configuration.ts'

it('the sample is what a file with nothing but its directory sets', async () => {
  const text = 'crm: { kind: files, directory: /sample }'
  const loaded = await loadConfiguration({ path: 'm.yaml', text, env: {}, readFile: readSmallFile })
  const sample = sampleConfiguration('/sample')
  expect(loaded.ok && JSON.stringify(loaded.configuration)).toBe(JSON.stringify(sample))
  expect(Object.isFrozen(sample.crm)).toBe(true)
})
