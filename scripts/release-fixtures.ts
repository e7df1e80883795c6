/**
 * Writes test/releases/VERSION: what this version shows and stores, for later versions to be held against. Run it when
 * a release is made, and never again for that version.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import manifest from '../package.json' with { type: 'json' }
import { KEYS } from '../src/config/configuration.ts'
import type { AnyKey } from '../src/config/key.ts'
import { releaseRun } from '../test/releases/release-run.ts'

const RELEASES = join(import.meta.dirname, '../test/releases')
const configurations = join(RELEASES, 'configurations')
const into = join(RELEASES, manifest.version)

const texts = readdirSync(configurations)
  .filter((name) => name.endsWith('.yaml'))
  .map((name) => readFileSync(join(configurations, name), 'utf8'))
const lacking = lackingKeys('', KEYS)
if (lacking.length > 0) {
  console.error(`No file in test/releases/configurations has the key ${lacking.join(', ')}`)
  process.exit(1)
}

const { configuration, status, metrics, openapi, answers, snapshot } = await releaseRun()
rmSync(into, { recursive: true, force: true })
mkdirSync(into, { recursive: true })
cpSync(configurations, join(into, 'configurations'), { recursive: true })
const pretty = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`
const files = {
  'configuration.json': pretty(JSON.parse(configuration)),
  'status.json': pretty(JSON.parse(status)),
  'metrics.txt': metrics,
  'openapi.json': pretty(JSON.parse(openapi)),
  'answers.json': pretty(answers),
}
for (const [name, text] of Object.entries(files)) writeFileSync(join(into, name), text)
writeFileSync(join(into, snapshot.name), snapshot.bytes)
console.log(`${into} has what ${manifest.version} shows and stores`)
process.exit()

/** The keys that no configuration names, of each kind of CRM in its own file. Fields of records are named by some. */
function lackingKeys(around: string, keys: Readonly<Record<string, AnyKey>>, among = texts): readonly string[] {
  return Object.entries(keys).flatMap(([name, { notes }]) => {
    const path = around === '' ? name : `${around}.${name}`
    const { inside } = notes
    if (inside?.kind === 'kinds') {
      return Object.entries(inside.kinds).flatMap(([kind, { notes: inKind }]) => {
        const ofKind = texts.filter((text) => text.includes(`kind: ${kind}\n`))
        const within = inKind.inside?.kind === 'section' ? inKind.inside.keys : {}
        return ofKind.length === 0 ? [`${path}.kind: ${kind}`] : lackingKeys(`${path}(${kind})`, within, ofKind)
      })
    }
    if (!among.some((text) => new RegExp(`(?:^|[\\s{,])${name}:`).test(text))) return [path]
    if (name === 'fields') return []
    if (inside?.kind === 'section') return lackingKeys(path, inside.keys, among)
    const item = inside?.kind === 'list' ? inside.item.notes.inside : null
    return item?.kind === 'section' ? lackingKeys(`${path}[]`, item.keys, among) : []
  })
}
