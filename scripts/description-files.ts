import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { jsonText } from '../src/describe/json-schemas.ts'
import { type Instance, openApi } from '../src/describe/openapi.ts'
import { openZone } from '../src/domain/zone.ts'
import { describedTypes } from './described-types.ts'

const ROOT = join(import.meta.dirname, '..')
/** The client in one file, whose types are generated. */
export const CLIENT = 'docs/examples/marquee-client.ts'
const TYPES = /(\/\/ Types: written by scripts\/description\.ts\.\n)[^]*?(\/\/ End of the types\.)/

const zone = openZone('UTC')
if (zone === null) throw new Error('UTC is not a zone')

/** An instance with the defaults, but with lists on, as in the sample. */
export const INSTANCE: Instance = {
  basePath: '/',
  namespace: 'Marquee',
  links: { event: [], venue: [] },
  lists: true,
  feeds: { calendar: false, jsonLd: false, atom: false, changes: false, language: 'en-GB' },
  page: null,
  currency: null,
  conditionalRequests: false,
  maxAgeMs: 30_000,
  zone,
}

/** Generates the files in docs/ that contain the description, by path. Only the client is committed. */
export function descriptionFiles(): ReadonlyMap<string, string> {
  const types = describedTypes()
  const client = readFileSync(join(ROOT, CLIENT), 'utf8')
  return new Map([
    ['docs/openapi.json', `${jsonText(openApi(INSTANCE), '  ')}\n`],
    ['docs/marquee.d.ts', `// The JSON that Marquee answers with. Written by scripts/description.ts.\n\n${types}`],
    [CLIENT, client.replace(TYPES, (_, head: string, tail: string) => `${head}\n${types}\n${tail}`)],
  ])
}
