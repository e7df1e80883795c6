import { Ajv2020 } from 'ajv/dist/2020.js'
import ajvFormats from 'ajv-formats'
import type { Document } from './document.ts'

/** What is wrong with a JSON body by a schema of a document's components; null where nothing is. */
export type Validate = (schema: object, body: unknown) => string | null

/** Checks bodies by the rules of JSON Schema 2020-12. OpenAPI's own words change nothing in what is valid. */
export function validator(document: Document): Validate {
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true, keywords: ['components', 'xml'] })
  ajvFormats.default(ajv)
  ajv.addSchema({ $id: 'https://marquee.example/', components: document.components }, 'document')
  return (schema, body) => {
    const own = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"https://marquee.example/#/')) as object
    const validate = ajv.compile(own)
    return validate(body) ? null : ajv.errorsText(validate.errors)
  }
}
