import { expect, it } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { descriptionFiles } from './description-files.ts'

it.each(['docs/openapi.json', 'docs/marquee.d.ts', 'docs/examples/marquee-client.ts'])(
  '%s is what ./bun scripts/description.ts writes',
  (path) => {
    expect(readFileSync(join(import.meta.dirname, '..', path), 'utf8')).toBe(descriptionFiles().get(path) ?? '')
  },
)
