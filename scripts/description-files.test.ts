import { expect, it } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CLIENT, descriptionFiles } from './description-files.ts'

it(`the types within ${CLIENT} are those that ./bun scripts/description.ts writes`, () => {
  expect(readFileSync(join(import.meta.dirname, '..', CLIENT), 'utf8')).toBe(descriptionFiles().get(CLIENT) ?? '')
})
