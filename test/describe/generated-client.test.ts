import { afterAll, beforeAll, expect, it } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Runtime } from '../support/child.ts'
import { Child, programOf, ROOT } from '../support/child.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import type { MarqueeProcess } from '../support/marquee-process.ts'
import { serve } from '../support/marquee-process.ts'

// What a front-end developer writes who generates a client: wrong names and types must not compile.
const CLIENT = `
import createClient from 'openapi-fetch'
import type { components, paths } from './marquee.ts'

type Json = 'application/json' | 'application/problem+json'
const marquee = createClient<paths, Json>({ baseUrl: process.argv[2] ?? '' })
const params = { path: { id: '7e016ac6-5cee-4fd6-be12-faa34a6761ef' } }
const { data, error } = await marquee.GET('/api/events/{id}', { params })
if (data === undefined) throw new Error(error.detail)
const name: string | null = data.Name
const price: number = data.Price
// @ts-expect-error there is no such field
data.Title
// @ts-expect-error a name may be null
const certain: string = data.Name
// @ts-expect-error there is no such path
marquee.GET('/api/event/{id}', { params })
// @ts-expect-error tags are texts
const page = await marquee.GET('/api/events', { params: { query: { tag: [5] } } }).catch(() => null)
const folk = await marquee.GET('/api/events', { params: { query: { tag: ['Folk'], available: 'true', limit: 1 } } })
const events: readonly Pick<components['schemas']['Event'], 'Name' | 'Tags'>[] = folk.data?.Events ?? []
const refused = await marquee.GET('/api/venues/{id}', { params: { path: { id: '42' } } })
const detail = refused.error?.detail
const venue = await marquee.GET('/api/events/{id}/venue', { params })
console.log(JSON.stringify([name, price, events.map(({ Tags }) => Tags), refused.response.status, detail, venue.data?.AddressCity]))
`

const folder = mkdtempSync(join(tmpdir(), 'marquee-generated-'))
const sample = (list: string): string => readFileSync(join(ROOT, 'sample', `${list}.json`), 'utf8')
const directory = new FilesDirectory({ lists: 'on' }, { events: sample('events'), venues: sample('venues') })
const served = new Map<Runtime, MarqueeProcess>()

beforeAll(async () => {
  for (const runtime of ['bun', 'node'] as const) served.set(runtime, await serve(runtime, directory.configuration))
})
afterAll(async () => {
  for (const { child } of served.values()) await child.stop()
  directory.remove()
  rmSync(folder, { recursive: true })
})

it('openapi-typescript and openapi-fetch make a typed client of it, which compiles and runs on both runtimes', async () => {
  const { address } = served.get('bun')?.listening ?? { address: '' }
  writeFileSync(join(folder, 'openapi.json'), await (await fetch(`${address}api/openapi.json`)).text())
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  const types = new Child(programOf('node'), [
    join(ROOT, 'test/describe/print-types.mjs'),
    join(folder, 'openapi.json'),
  ])
  expect([await types.exited, types.stderr]).toEqual([0, ''])
  writeFileSync(join(folder, 'marquee.ts'), types.stdout)
  writeFileSync(join(folder, 'client.ts'), CLIENT)
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  const strict = ['--strict', '--noEmit', '--target', 'esnext', '--module', 'nodenext', '--allowImportingTsExtensions']
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
  const compiled = new Child(programOf('node'), [tsc, ...strict, '--types', 'node', 'client.ts'], { cwd: folder })
  expect([await compiled.exited, compiled.stdout]).toEqual([0, ''])
  for (const runtime of ['bun', 'node'] as const) {
    const of = served.get(runtime)?.listening.address ?? ''
    const ran = new Child(programOf(runtime), [join(folder, 'client.ts'), of], { cwd: folder })
    expect([runtime, await ran.exited, ran.stderr]).toEqual([runtime, 0, ''])
    expect(JSON.parse(ran.stdout)).toEqual([
      'Rope & Reel: an evening of sea songs',
      18.5,
      [['Folk', 'Music', 'Family']],
      400,
      'The id must be a GUID, such as 5f6c2a3e-8d0b-4c57-9e21-0a4b7d9c1e34, and not the empty one.',
      'London',
    ])
  }
})
