import { jsonText } from '../../src/describe/json-schemas.ts'
import { type Instance, openApi } from '../../src/describe/openapi.ts'
import { INSTANCE } from '../../scripts/description-files.ts'

interface Header {
  readonly schema: object
}

interface Reference {
  readonly $ref: string
}

interface Content {
  readonly schema: object
}

export interface Response {
  readonly description: string
  readonly headers: Readonly<Record<string, Reference>>
  readonly content?: Readonly<Record<string, Content>>
}

interface Operation {
  readonly operationId: string
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: object }[]
  readonly responses: Readonly<Record<string, Response | Reference>>
}

/** A document as far as the tests look at it. */
export interface Document {
  readonly openapi: string
  readonly info: { readonly description: string }
  readonly servers: readonly { readonly url: string }[]
  readonly paths: Readonly<Record<string, { readonly get: Operation }>>
  readonly components: {
    readonly headers: Readonly<Record<string, Header>>
    readonly responses: Readonly<Record<string, Response>>
    readonly examples: Readonly<Record<string, { readonly value: unknown }>>
    readonly schemas: Readonly<Record<string, { readonly required: readonly string[]; readonly properties: object }>>
  }
}

/** The document of an instance, read back from its text. */
export function documentOf(more: Partial<Instance> = {}): Document {
  return JSON.parse(jsonText(openApi({ ...INSTANCE, ...more }))) as Document
}

/** The response of a path and a status; throws where the document has none. */
export function responseIn(document: Document, path: string, status: number): Response {
  const found = document.paths[path]?.get.responses[String(status)]
  const response = found !== undefined && '$ref' in found ? document.components.responses[nameIn(found)] : found
  if (response === undefined) throw new Error(`the document has no ${status} at ${path}`)
  return response
}

function nameIn({ $ref }: Reference): string {
  return $ref.slice($ref.lastIndexOf('/') + 1)
}
