import { describe, expect, it } from 'bun:test'
import fc from 'fast-check'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfiguration } from './read-configuration.ts'
import { renderProblem } from './config-problem.ts'
import { type ReadFile, readSmallFile } from '../time/read-text.ts'

const SECRET = 'xyzzy-plugh'
const nothing: ReadFile = () => Promise.reject(Object.assign(new Error('none'), { code: 'ENOENT' }))
const secretFile: ReadFile = async () => new TextEncoder().encode(`${SECRET}\n`)

async function problemsIn(text: string, readFile = nothing): Promise<string[]> {
  const env = { TOKEN: SECRET, URL: `postgres://u:${SECRET}@h` }
  const loaded = await loadConfiguration({ path: 'm.yaml', text, env, readFile })
  return loaded.ok ? [...loaded.warnings] : loaded.problems.map(renderProblem)
}

const KEYS = [
  'crm',
  'kind',
  'files',
  'directory',
  'listen',
  'port',
  'operations',
  'token',
  'freshness',
  'maxAge',
  '30s',
]
const MORE_KEYS = ['representation', 'links', 'event', 'rel', 'href', 'limits', 'memory', 'timeZone', '__proto__']
const VALUES = ['env', 'file', 'TOKEN', 'URL', 'constructor', 'null', '~', '0', '-1', '1e999', '.nan']
const URLS = [`postgres://u:${SECRET}@h/d`, `x://:${SECRET}@{`, `a://b:${SECRET}#/@h`]
const SIGNS = [
  ': ',
  ':\n  ',
  '\n',
  '\n  ',
  '\n    ',
  '- ',
  '[',
  ']',
  '{',
  '}',
  ', ',
  '"',
  "'",
  '&a ',
  '*a',
  '|\n',
  '>-\n',
]
const ODDITIES = [
  '---\n',
  '!!binary ',
  '! ',
  '%YAML 1.1\n',
  '# ',
  '\t',
  '\\',
  '\0',
  '\uFEFF',
  '\u2028',
  '\uD800',
  '@',
  '`',
  '<<',
  '? ',
]
const word = fc.constantFrom(...KEYS, ...MORE_KEYS, ...VALUES, ...URLS, ...SIGNS, ...ODDITIES)

const value: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom('files', 'x', '30s', 80, -1, true, null, '', 'Europe/London', [], {}),
    fc.constantFrom({ env: 'TOKEN' }, { env: 'URL' }, { file: 'x' }, { env: 'NONE' }, { env: 1 }),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(
      fc.constantFrom(
        'kind',
        'directory',
        'port',
        'host',
        'token',
        'maxAge',
        'event',
        'rel',
        'href',
        'links',
        '__proto__',
        'text',
      ),
      tie('value'),
    ),
  ),
})).value

const sections = fc.dictionary(
  fc.constantFrom(
    'crm',
    'listen',
    'operations',
    'freshness',
    'representation',
    'limits',
    'timeZone',
    'conditionalRequests',
    'x',
  ),
  value,
)

const TOO_DEEP = /^m\.yaml:1: is not valid YAML at column \d+: it is nested too deeply$/
const TOO_MANY = 'm.yaml: is not a configuration: it contains more than 100000 words and signs'

describe('hostile configurations', () => {
  it('never throw and never show what a reference or a URL holds, whatever the text', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(word, { maxLength: 40 }), async (words) => {
        for (const sentence of await problemsIn(words.join(''), secretFile)) {
          expect(sentence).not.toContain(SECRET)
          expect(sentence).not.toMatch(/[\r\n\0\u2028]/)
        }
      }),
      { numRuns: 400 },
    )
  })

  it('never throw and never show what a reference holds, whatever stands where', async () => {
    await fc.assert(
      fc.asyncProperty(sections, async (root) => {
        for (const sentence of await problemsIn(JSON.stringify(root), secretFile)) {
          expect(sentence).not.toContain(SECRET)
          expect(sentence).not.toContain('undefined')
        }
      }),
      { numRuns: 400 },
    )
  })

  it('may be any bytes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
        const readFile = async () => bytes
        const loaded = await loadConfiguration({ path: 'm.yaml', env: {}, readFile })
        expect(loaded.ok).toBe(false)
      }),
      { numRuns: 200 },
    )
  })

  it.each([
    [
      'an alias bomb',
      `a: &a [x,x]\nb: &b [${'*a,'.repeat(60)}]\nc: &c [${'*b,'.repeat(60)}]\nd: [${'*c,'.repeat(60)}]`,
      'm.yaml:1: contains more than 100000 values',
    ],
    ['an alias to itself', 'crm: &a [*a]', 'm.yaml:1: is nested deeper than 32 levels'],
    [
      'few aliases to much',
      `a: &a [${'x,'.repeat(20_000)}]\nb: [${'*a,'.repeat(50)}]`,
      'm.yaml:1: contains more than 100000 values',
    ],
    ['deep brackets', '['.repeat(40_000), TOO_DEEP],
    ['deep brackets on lines', `a:\n${' [\n'.repeat(33)}`, /^m\.yaml:\d+: is not valid YAML/],
    ['brackets in a text', `crm:\n  kind: '${'['.repeat(40)}'`, /^m\.yaml:2: crm\.kind is "\[/],
    ['brackets in a list', `crm:\n  kind: [${'[1],{a: 1},'.repeat(40)}]`, /^m\.yaml:2: crm\.kind is a list/],
    ['deep mappings', '{a: '.repeat(15_000), TOO_DEEP],
    ['deep lists', '- '.repeat(40_000), TOO_DEEP],
    ['keys of keys', `[${'a: '.repeat(13_000)}`, /^m\.yaml:1: is not valid YAML/],
    ['nesting that is closed', `a: ${'['.repeat(40)}${']'.repeat(40)}`, 'm.yaml:1: is nested deeper than 32 levels'],
    ['a megabyte of brackets', '['.repeat(1e6), TOO_MANY],
    ['a megabyte of signs', `a: [${'1,'.repeat(3e5)}]`, TOO_MANY],
    ['a megabyte of new lines', '\n'.repeat(1e6), /^m\.yaml: (crm is missing|is not a configuration)/],
    ['many keys', Array.from({ length: 12_000 }, (_, index) => `k${index}: 1`).join('\n'), /^m\.yaml: crm is missing/],
    [
      'many keys in a section',
      `listen:\n${Array.from({ length: 12_000 }, (_, index) => ` k${index}: 1`).join('\n')}`,
      /^m\.yaml: crm is missing/,
    ],
    ['many bad links', `representation: { links: { event: [${'1,'.repeat(30_000)}] } }`, /^m\.yaml: crm is missing/],
    ['a long key', `${'k'.repeat(1000)}: 1`, /^m\.yaml: crm is missing/],
    ['a NUL', 'crm:\n  kind: "\0"', 'm.yaml:2: contains a control character (U+0000)'],
  ])('%s is refused', async (_name, text, sentence) => {
    const sentences = await problemsIn(text)
    expect(sentences.length).toBeLessThanOrEqual(101)
    if (typeof sentence === 'string') expect(sentences[0]).toBe(sentence)
    else expect(sentences[0]).toMatch(sentence)
  })
})

describe('files that are no configuration', () => {
  const folder = mkdtempSync(join(tmpdir(), 'marquee-configuration-'))
  const path = join(folder, 'm.yaml')

  async function read(file: string): Promise<string[]> {
    const loaded = await loadConfiguration({ path: file, env: {}, readFile: readSmallFile })
    return loaded.ok ? [] : loaded.problems.map(renderProblem)
  }

  it.each([
    ['is not UTF-8 (line 2); save it as UTF-8', new Uint8Array([0x61, 0x0a, 0xe9, 0x0a])],
    ['is UTF-16; save it as UTF-8', new Uint8Array([0xff, 0xfe, 0x61, 0x00])],
    ['is larger than 1 MB', new Uint8Array(1_000_001).fill(0x23)],
  ])('%s', async (message, bytes) => {
    writeFileSync(path, bytes)
    expect(await read(path)).toEqual([`${path}: ${message}`])
  })

  it('may be exactly 1 MB', async () => {
    writeFileSync(path, `crm: { kind: files, directory: x }\n${'#'.repeat(999_965)}`)
    expect(await read(path)).toEqual([])
  })

  it('are told by what they are: missing, a directory, a device, no path', async () => {
    expect(await read(join(folder, 'none'))).toEqual([`${join(folder, 'none')}: does not exist`])
    expect(await read(folder)).toEqual([`${folder}: is a directory, not a file`])
    expect(await read('/dev/zero')).toEqual(['/dev/zero: is a pipe or a device: only regular files are read'])
    expect(await read('a\0b')).toEqual(['"a\\u0000b": cannot be read: its path is invalid'])
    rmSync(folder, { recursive: true })
  })

  it('are told by what the system says', async () => {
    const readFile = () => Promise.reject(Object.assign(new Error('secret detail'), { code: 'EACCES' }))
    const loaded = await loadConfiguration({ path: 'm.yaml', env: {}, readFile })
    expect(loaded.ok ? [] : loaded.problems.map(renderProblem)).toEqual(['m.yaml: cannot be read: permission denied'])
  })
})
