import { Ajv, type ValidateFunction } from 'ajv'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { ROOT } from '../support/child.ts'

/** The text of the schema that editors read. */
export const SCHEMA_TEXT: string = readFileSync(join(ROOT, 'docs/marquee.schema.json'), 'utf8')

const ajv = new Ajv({ strict: true, strictRequired: false, strictTypes: false, allowUnionTypes: true })
// What VS Code shows in place of its own words.
ajv.addKeyword('errorMessage')
const validate: ValidateFunction = ajv.compile(JSON.parse(SCHEMA_TEXT))

/** What an editor would mark in this YAML. */
export function markedByEditor(yaml: string): readonly string[] {
  return validate(parse(yaml, { uniqueKeys: false, logLevel: 'silent' }))
    ? []
    : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
}
