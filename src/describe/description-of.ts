import type { DescriptionTexts } from '../http/description.ts'
import { pageOf } from './html.ts'
import { jsonText } from './json-text.ts'
import { type Instance, openApi } from './openapi.ts'

/** What `/api/openapi.json` and the base path answer with, for one instance: written once, here, and never for a request. */
export function descriptionOf(instance: Instance): DescriptionTexts {
  return { openapi: jsonText(openApi(instance)), page: pageOf(instance) }
}
