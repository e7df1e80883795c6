import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')

interface Exchange {
  readonly path: string
  /** Its path in the document; null for what is none of ours. */
  readonly template: string | null
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

/** Every answer that docs/transcript.md shows. */
export function exchanges(): readonly Exchange[] {
  const page = readFileSync(join(ROOT, 'docs/transcript.md'), 'utf8')
  const shown = page.matchAll(
    /```\n\$ curl [^\n]*'http:\/\/127\.0\.0\.1:8080([^']*)'\nHTTP\/1\.1 (\d+)[^\n]*\n([^]*?)\n```\n/g,
  )
  return Array.from(shown, ([, path = '', status = '', rest = '']) => {
    const [head = '', ...body] = rest.split('\n\n')
    const lines = head.split('\n').map((line): [string, string] => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon), line.slice(colon + 2)]
    })
    return {
      path,
      template: templateOf(path),
      status: Number(status),
      headers: new Map(lines),
      body: body.join('\n\n'),
    }
  })
}

function templateOf(target: string): string | null {
  const path = target.replace(/\?.*/, '').replace(/\/$/, '').toLowerCase()
  if (path.endsWith('/openapi.json')) return '/api/openapi.json'
  if (/\/events\/[^/]+\/venue$/.test(path)) return '/api/events/{id}/venue'
  if (/\/events\/[^/]+$/.test(path)) return '/api/events/{id}'
  if (/\/venues\/[^/]+$/.test(path)) return '/api/venues/{id}'
  return null
}

/** The golden pages of lists that are JSON, and the schema of each. */
export function goldenPages(): readonly { readonly name: string; readonly schema: string; readonly body: unknown }[] {
  const folder = join(ROOT, 'test/golden/lists')
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json') && !name.endsWith('.rows.json'))
    .map((name) => ({
      name,
      schema: `${name.endsWith('.hal.json') ? 'Hal' : ''}${name.startsWith('events') ? 'Event' : 'Venue'}Page`,
      body: JSON.parse(readFileSync(join(folder, name), 'utf8')) as unknown,
    }))
}
