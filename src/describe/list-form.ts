import { xmlAttribute, xmlText } from '../domain/escape.ts'
import { MEDIA_TYPES } from '../formats/media-types.ts'
import { type Listing, LIST_PARAMETERS, routeLabel } from '../contract/endpoints.ts'
import type { JsonObject } from './json-text.ts'
import type { Instance } from './openapi.ts'
import { listParameters } from './parameters.ts'

/** Returns the page's form for the parameters of lists and calendars; empty if the instance has neither. */
export function listForm({ lists, feeds }: Pick<Instance, 'lists' | 'feeds'>): string {
  const listings: readonly Listing[] = [
    ...(lists ? (['events', 'venues'] as const) : []),
    ...(feeds.calendar ? (['calendar'] as const) : []),
  ]
  const [first] = listings
  if (first === undefined) return ''
  const names = [...new Set(listings.flatMap((listing) => LIST_PARAMETERS[listing]))]
  const fields = names.map((name) => {
    const takenIn = listings.filter((listing) => LIST_PARAMETERS[listing].includes(name))
    const [parameter] = listParameters(takenIn[0] ?? first).filter((one) => one['name'] === name)
    return parameter === undefined ? '' : fieldOf(name, parameter, takenIn)
  })
  const kinds = listings.map((listing) => `<option value="${listing}">${routeLabel(listing)}</option>`)
  const types = MEDIA_TYPES.map((type) => `<option>${type}</option>`)
  return [
    '<section aria-labelledby="lists-title"><h2 id="lists-title">Try a list</h2>',
    '<p>Every parameter may be left out. Repeat <code>venue</code> and <code>tag</code> in the address to name several.</p>',
    `<form id="list"><label>List <select id="listing">${kinds.join('')}</select></label>`,
    `<label id="list-types">Media type <select id="list-type">${types.join('')}</select></label>`,
    `<div class="parameters">${fields.join('')}</div><button type="submit">Try</button></form>`,
    '<div id="listed" role="region" aria-label="The list" aria-live="polite"></div></section>',
  ].join('')
}

function fieldOf(name: string, parameter: JsonObject, takenIn: readonly Listing[]): string {
  const hint = `hint-${name}`
  const attributes = `name="${name}" aria-describedby="${hint}"`
  return [
    `<p data-of="${takenIn.join(' ')}"><label><code>${name}</code>${inputOf(attributes, parameter)}</label>`,
    `<span class="hint" id="${hint}">${xmlText(textIn(parameter['description']))}</span></p>`,
  ].join('')
}

function inputOf(attributes: string, { schema, example }: JsonObject): string {
  const known = schemaOf(schema)
  if (Array.isArray(known['enum'])) {
    const values = known['enum'].map((value) => `<option>${xmlText(String(value))}</option>`)
    return `<select ${attributes}><option value="">any</option>${values.join('')}</select>`
  }
  if (known['type'] === 'integer') return `<input ${attributes} type="number" min="${String(known['minimum'])}">`
  const shown = example === undefined ? '' : ` placeholder="${xmlAttribute(textIn(example))}"`
  return `<input ${attributes} type="text" spellcheck="false" autocomplete="off"${shown}>`
}

function textIn(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function schemaOf(schema: unknown): Readonly<Record<string, unknown>> {
  return typeof schema === 'object' && schema !== null ? { ...schema } : {}
}
