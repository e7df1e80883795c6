import { Description } from '../http/description.ts'
import { pageOf } from './html.ts'
import { jsonText } from './json-text.ts'
import type { Instance } from './openapi.ts'
import { openApi } from './openapi.ts'

/** What `/api/openapi.json` and the base path answer with, for one instance: written once, here, and never for a request. */
export function descriptionOf(instance: Instance): Description {
  return new Description({
    basePath: instance.basePath,
    openapi: jsonText(openApi(instance)),
    page: pageOf(instance),
  })
}
