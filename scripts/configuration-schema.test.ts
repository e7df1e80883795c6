import { describe, expect, it } from 'bun:test'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { YAMLParseError } from 'yaml'
import { KEYS } from '../src/config/configuration.ts'
import type { AnyKey, Keys } from '../src/config/key.ts'
import { loadConfiguration } from '../src/config/read-configuration.ts'
import { markedByEditor, SCHEMA_TEXT } from '../test/config/editor-schema.ts'
import { ALONE, WRONG } from '../test/config/mistakes.ts'
import { CONFIGURED_VALUES } from '../test/support/depth.ts'
import { configurationSchema } from './configuration-schema.ts'

const ROOT = join(import.meta.dirname, '..')

function isMarked(yaml: string): boolean {
  try {
    return markedByEditor(yaml).length > 0
  } catch (cause) {
    // What is no YAML is marked without a schema.
    if (cause instanceof ReferenceError || cause instanceof YAMLParseError) return true
    throw cause
  }
}

async function isAccepted(yaml: string): Promise<boolean> {
  const readFile = async (): Promise<Uint8Array> => new TextEncoder().encode('secret')
  const env = { NAME: 'secret', URL: 'postgres://me@db.example/d', STORE: 'redis://localhost' }
  const loaded = await loadConfiguration({ path: '/etc/m.yaml', text: yaml, env, readFile, sample: '/sample' })
  return loaded.ok
}

it('docs/marquee.schema.json is made of the keys as they are', () => {
  expect(SCHEMA_TEXT).toBe(`${JSON.stringify(configurationSchema(), null, 2)}\n`)
})

describe('the schema refuses the mistakes that a schema can know', () => {
  it('all but these', () => {
    const files = WRONG.filter(([, sentence]) => sentence !== 'syntax').map(
      ([line]) => [line, `crm: { kind: files, directory: ./crm }\n${line}`] as const,
    )
    const lines = [...files, ...ALONE.map(([line]) => [line, line] as const)]
    expect(lines.flatMap(([line, yaml]) => (isMarked(yaml) ? [] : [line]))).toEqual(BEYOND)
  })
})

describe('the schema accepts what Marquee accepts', () => {
  const documents = globSync(['deploy/**/*.yaml', 'docs/**/*.md', 'test/**/*.yaml', 'README.md'], { cwd: ROOT })
  const written = documents.flatMap((name) => {
    const content = readFileSync(join(ROOT, name), 'utf8')
    const blocks = name.endsWith('.md')
      ? Array.from(content.matchAll(/```yaml\n(.*?)```/gs), ([, block = '']) => block)
      : [content]
    return blocks.filter((block) => /^(?:crm|listen):/m.test(block)).map((block) => [name, block] as const)
  })

  it('in the documentation, the deployment files and the files of the tests', async () => {
    const accepted: string[] = []
    for (const [name, yaml] of written) {
      if (!(await isAccepted(yaml))) continue
      accepted.push(name)
      expect([name, markedByEditor(yaml)]).toEqual([name, []])
    }
    expect(new Set(accepted).size).toBeGreaterThan(2)
  })

  it('at each key, of every value out of many', async () => {
    let accepted = 0
    let refused = 0
    let unnoticed = 0
    for (const [path, key] of distinctKeys()) {
      for (const value of VALUES) {
        const whole = JSON.stringify(configurationWith(path, value))
        const isTaken = await isAccepted(whole)
        const isKnownRight = !isMarked(whole)
        if (isTaken && !isKnownRight)
          throw new Error(`${path.join('.')}: ${JSON.stringify(value)} is ${key.notes.allowed}`)
        if (isTaken) accepted++
        else if (isKnownRight) unnoticed++
        else refused++
      }
    }
    expect([accepted > 100, refused > 1000, unnoticed < refused / 10]).toEqual([true, true, true])
  })
})

/** What only Marquee knows: the environment and files, the names of zones, sums of digits, and rules between keys. */
const BEYOND = [
  'feeds: { changes: on }\nwebhooks: [{ url: http://hooks.example.org/hunter2, body: empty }]',
  'feeds: { changes: on }\nwebhooks: [{ url: "http://localhost.:9000/hunter2", body: empty }]',
  'feeds: { changes: on }\nwebhooks: [{ url: "http://[::ffff:127.0.0.1]/hunter2", body: empty }]',
  'webhooks: [{ url: https://hooks.example.org/, body: empty }]',
  'feeds: { changes: on }\nwebhooks: [{ url: https://hooks.example.org/ }]',
  'feeds: { changes: on }\nwebhooks: [{ url: https://hooks.example.org/, secret: { env: BLANKS } }]',
  'feeds: { changes: on }\nwebhooks: [{ url: https://hooks.example.org/, body: empty, every: 10ms }]',
  'feeds: { changes: on }\nwebhooks: [{ url: https://hooks.example.org/, body: empty, on: [] }]',
  'feeds: { changes: on }\nwebhooks:\n  - { url: https://hooks.example.org/, body: empty }\n  - { url: https://hooks.example.org/, body: empty, on: [venues, events] }',
  'cluster: { url: "rediss://store", ca: ./none.pem }',
  'cluster: { url: "redis://store:6379" }',
  'cluster: { url: "rediss://store", heartbeat: 10ms }',
  'cluster: { url: "rediss://store" }\nfreshness: { maxAge: 999ms }',
  'cluster: { url: "rediss://store" }\nfreshness: { maxAge: 2s, refreshEvery: 1001ms }',
  'cluster: { url: "rediss://store", heartbeat: 801ms }\nfreshness: { maxAge: 8s }',
  'freshness: { maxAge: 577h }',
  'freshness: { maxAge: 999999999999999h }',
  'freshness: { fullReadEvery: 720h }',
  'limits: { drain: 600h }',
  'limits: { idle: 600h }',
  'limits: { waitFor: 34561m }',
  'freshness: { fullReadEvery: 5ms }',
  'limits: { idle: 900ms }',
  'limits: { readyBodies: 999KB }',
  'limits: { memory: 999999999999999TB }',
  'freshness: { shrinkGuard: 9999h }',
  'timeZone: Europe/Lodnon',
  'operations: { token: { env: EMPTY } }',
  'operations: { token: { env: NOT_SET } }',
  'operations: { token: { env: toString } }',
  'operations: { token: { file: nowhere } }',
  'operations: { token: { env: BLANKS } }',
  'listen: { port: { env: BLANKS } }',
  'timeZone: { env: BLANKS }',
  'operations: { host: 0.0.0.0 }',
  'listen: { port: 8081 }',
  'operations: { host: localhost, port: 8080 }',
  'listen: { host: 0.0.0.0, port: 8081 }',
  'listen: { host: "::", port: 8081 }',
  'timeZone: UTC\ntimeZone: UTC',
  // Names that are taken, and which further fields the same file declares.
  ...['NAME: text', 'Href: text', 'LINKS: text', 'Door: text, DOOR: text'].map(
    (declared) => `representation: { further: { events: { ${declared} } } }\ncrm: { kind: files, directory: . }`,
  ),
  ...[
    'Doors: D',
    'Doors: D, Code: null, Genres: G',
    'Door: D, Doors: D, Code: null',
    'Doors: { column: D, html: true }, Code: null',
  ].map(
    (fields) =>
      `representation: { further: { events: { Doors: date-time, Code: text } } }\ncrm: { kind: files, directory: ., events: { fields: { Name: N, ${fields} } } }`,
  ),
  'crm: { kind: files }',
  'crm: { kind: files, events: { from: "https://example.org/e.csv" } }',
  // A schema counts characters, and this limit is in bytes.
  `crm: { kind: postgres, url: postgres://u@h/d, listen: ${'é'.repeat(32)}, events: { from: e }, venues: { from: v } }`,
  ...['ddMMyyyy HH:mm', 'YYYYMMDDTHHmmss', 'YYYYMMDDThhmmssZ'].map(
    (format) => `crm: { kind: files, directory: x, venues: {}, events: {\n  texts: { dates: [${format}] } } }`,
  ),
  'crm: { kind: files, directory: x, venues: {}, events: {\n  from: { url: "https://example.org/a", headers: { X-Api-Key: word } } } }',
  'crm: { kind: files, directory: x, venues: {}, events: {\n  from: { url: "https://example.org/a", headers: { Range: bytes=0 } } } }',
]

/** Of every kind that some key takes, right and nearly right. */
const GROUPS: readonly (readonly unknown[])[] = [
  [null, true, false, 0, 1, 443, 65_536, -1, 1.5, 1e12, [], {}],
  ['', ' ', '?', 'on', 'OFF', 'true', 'x', 'a b', 'a.b', 'a.b.c', '.a', 'Name', 'tab', ',', ';', '.', 'utf-8', 'all'],
  ['0', '0s', '30s', '30 s', '30S', '5ms', '2h', '577h', '2GB', '2 gib', '1B', '5000B', '2000', '1.5h', '2h30m'],
  ['UTC', 'Europe/London', 'Europe/Lodnon', '+01:00', '/', '/a/b/', '//', '/a/../b', '/50%', '/%20', 'a\\b'],
  ['127.0.0.1', '::1', '[::1]', 'localhost', '0.0.0.0', '1.2.3', 'a:80', '256.1.1.1', 'under_score.example'],
  ['https://a.example', 'https://a.example/', 'http://a.example', 'https://a.example/b', 'ftp://a', 'https://u@h/'],
  ['postgres://me@h/d', 'postgresql://h', 'postgres://me:pw@h/d', 'postgres://h/d?sslmode=verify-full', 'mysql://h'],
  ['rediss://h:6379/0', 'redis://localhost', 'redis://u:p@h', 'redis://h/0?x', 'events.csv', 'e.xlsx', 'e.xls'],
  ['5f6c2a3e-8d0b-4c57-9e21-0a4b7d9c1e34', '{5F6C2A3E-8D0B-4C57-9E21-0A4B7D9C1E34}'],
  ['00000000-0000-0000-0000-000000000000', '5f6c2a3e8d0b4c579e210a4b7d9c1e34', '5f6c2a3e'],
  [{ env: 'NAME' }, { env: 'URL' }, { env: 'STORE' }, { env: '1x' }, { file: 'x' }, { file: 'x', env: 'NAME' }],
  [['x'], ['x', 1, true], [''], [null], ['DD.MM.YYYY'], ['x', { env: 'NAME' }], [{ a: 'b' }]],
  [{ s: [1] }, { s: 'blank' }, { s: { not: ['x'] } }, { s: [] }, { s: { not: [] } }, { s: ['  '] }, { s: '?' }],
  [{ column: 'a' }, { column: 'a', whenBlank: '5' }, { column: 'a', whenBlank: 'x' }, { column: 'a', label: true }],
  [{ column: 'a', wallTimeIn: 'Europe/Paris' }, { column: 'a', wallTimeIn: { column: 'z' } }, { column: '?' }],
  [{ column: 'a', whenBlank: { lasting: '2h30m' } }, { column: 'a', whenBlank: null }, { column: '' }],
  [{ join: ['a', 'b'] }, { join: ['a'] }, { join: ['a', '?'] }, { join: ['a', 'b'], whenBlank: '2036-07-12T19:30' }],
  [{ subtract: ['a', 'b'] }, { value: 'x' }, { value: '7' }, { value: 7 }, { lasting: '90m' }, { lasting: 'long' }],
  [
    { file: 'e.xlsx', sheet: 'S' },
    { file: 'e.csv', sheet: 2 },
    { file: 'e.xlsx', shet: 'S' },
  ],
  [[{ rel: 'a', href: 'b' }], [{ rel: 'a' }], [{ rel: 'a', href: 'b', title: null }], [{ rel: 'a b', href: 'x' }]],
  [{ every: '2s' }, { event: null }, { host: 'localhost' }, { directory: null }, { url: 'redis://localhost' }],
]

const VALUES = GROUPS.flat().filter((_, index) => index % CONFIGURED_VALUES === 0)

const KINDS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  files: { kind: 'files', directory: './crm' },
  postgres: { kind: 'postgres', url: { env: 'URL' }, events: { from: 'e' }, venues: { from: 'v' } },
  dataverse: {
    kind: 'dataverse',
    url: 'https://example.crm11.dynamics.com',
    tenant: 't',
    clientId: 'c',
    clientSecret: { env: 'NAME' },
  },
}

type KeyPath = readonly string[]

/** One key of each that takes the same as others, with where it stands; below `crm` the kind comes first. */
function distinctKeys(): readonly (readonly [KeyPath, AnyKey])[] {
  const all = Object.entries<AnyKey>(KEYS).flatMap(([name, key]) => {
    const { inside } = key.notes
    if (inside?.kind !== 'kinds') return below([name], key)
    const kinds = Object.entries(inside.kinds)
    return [[[name], key] as const, ...kinds.flatMap(([kind, of]) => below([name, kind], of))]
  })
  const taken = ([, { notes }]: (typeof all)[number]): string => JSON.stringify([notes.schema, notes.allowed])
  return [...new Map(all.map((one) => [taken(one), one])).values()]
}

function below(path: KeyPath, key: AnyKey): readonly (readonly [KeyPath, AnyKey])[] {
  const { inside } = key.notes
  const keys: Keys = inside?.kind === 'section' ? inside.keys : {}
  const isKind = path.length === 2 && path[0] === 'crm'
  const inner = Object.entries(keys).flatMap(([name, one]) => below([...path, name], one))
  return isKind ? inner : [[path, key], ...inner]
}

function configurationWith([first = '', ...path]: KeyPath, value: unknown): Record<string, unknown> {
  if (first !== 'crm') return { crm: KINDS['files'], ...withAt({}, [first, ...path], value) }
  const [kind = '', ...inner] = path
  return { crm: path.length === 0 ? value : withAt(KINDS[kind] ?? {}, inner, value) }
}

function withAt(around: unknown, [step = '', ...path]: KeyPath, value: unknown): Record<string, unknown> {
  const entries = typeof around === 'object' && around !== null ? { ...around } : {}
  const inner: unknown = Reflect.get(entries, step)
  return { ...entries, [step]: path.length === 0 ? value : withAt(inner, path, value) }
}
