// The description of the service. In: the configuration and the routes. Out: an OpenAPI document, and a page for
// browsers.

import { hash } from 'node:crypto'
import { EVENTS } from '../domain/event.ts'
import type { FieldType, RecordTable } from '../domain/field.ts'
import { type FurtherType, NO_FURTHER } from '../domain/further.ts'
import { VENUES } from '../domain/venue.ts'
import { xmlAttribute, xmlText } from '../domain/escape.ts'
import { MEDIA_TYPES, feedTypes } from '../formats/media-types.ts'
import { type JsonObject, describedFurther, ADVICE, jsonText } from './json-schemas.ts'
import { type Instance, mediaTypesFor, openApi, pathsOf } from './openapi.ts'
import { readPart } from './page/read-part.ts'
import { type Listing, LIST_PARAMETERS, routeLabel } from '../contract/endpoints.ts'
import { listParameters } from './parameters.ts'

/** The page's names for the field types. */
const TYPES: Readonly<Record<FieldType, string>> = {
  guid: 'GUID',
  text: 'text or null',
  int32: 'whole number',
  decimal: 'decimal',
  'date-time': 'date-time',
  tags: 'texts',
}

const FURTHER_TYPES: Readonly<Record<FurtherType, string>> = {
  text: 'text',
  url: 'URL',
  integer: TYPES.int32,
  decimal: TYPES.decimal,
  'date-time': TYPES['date-time'],
  flag: 'true, false',
  texts: TYPES.tags,
}

interface Page {
  readonly html: string
  readonly policy: string
}

/** Returns the texts of `/api/openapi.json` and of the base path for one instance. Runs once, not for each request. */
export function descriptionOf(instance: Instance): { readonly openapi: string; readonly page: Page } {
  return { openapi: jsonText(openApi(instance)), page: pageOf(instance) }
}

/** Returns the page for browsers about one instance (contract §5). It contains nothing from callers or the CRM. */
export function pageOf(instance: Instance): Page {
  const prefix = instance.basePath === '/' ? '' : instance.basePath
  const script = readPart('page.js').trim()
  const style = readPart('page.css').trim()
  const kinds = pathsOf(instance).filter(({ path }) => path.includes('{id}') && !path.endsWith('.ics'))
  const parts: Readonly<Record<string, string>> = {
    base: xmlAttribute(prefix),
    lists: instance.lists ? 'on' : 'off',
    // Feed readers look for it here.
    atom: instance.feeds.atom
      ? `<link rel="alternate" type="application/atom+xml" href="${xmlAttribute(prefix + routeLabel('atom'))}">\n`
      : '',
    dashboard: typeof instance.dashboardPort === 'number' ? ` data-dashboard="${instance.dashboardPort}"` : '',
    paths: pathsOf(instance)
      .map(
        ({ path, summary }) => `<tr><td><code>${breakable(prefix + path)}</code></td><td>${xmlText(summary)}</td></tr>`,
      )
      .join(''),
    types: mediaTypesFor(instance, (type) => `<code>${type}</code>`),
    needs: instance.lists
      ? 'Choose an event above, or enter an id.'
      : 'Enter an id. This service does not list its records: ask its operator for an id, or take one from a page that shows the events.',
    kinds: kinds.map(({ found, summary }) => `<option value="${found}">${xmlText(summary)}</option>`).join(''),
    options: [...MEDIA_TYPES, ...feedTypes(instance.feeds)].map((type) => `<option>${type}</option>`).join(''),
    list: listForm(instance),
    fields: [EVENTS, VENUES].map((table) => fieldsOf(table, instance)).join(''),
    style,
    script,
  }
  const html = readPart('page.html').replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => parts[name] ?? '')
  return { html, policy: policyOf(style, script) }
}

/** Allows a line break after each slash. */
function breakable(path: string): string {
  return xmlText(path).replaceAll('/', '/<wbr>')
}

function fieldsOf(table: RecordTable, { further = NO_FURTHER, zone }: Instance): string {
  const { kind, fields } = table
  const own = fields.map((field) => ({
    ...field,
    is: TYPES[field.type],
    means: field.description + ADVICE[field.type],
  }))
  const others = describedFurther(table, further, zone).map((field) => ({
    ...field,
    is: `${FURTHER_TYPES[field.type]} or null`,
    means: field.description,
  }))
  const rows = [...own, ...others].map(({ name, is, means, example }) => {
    const cells = [`<code>${name}</code>`, is, xmlText(means)]
    const shown = `<td class="spare"><code>${xmlText(example)}</code></td>`
    return `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}${shown}</tr>`
  })
  const heads = ['Field', 'Type', 'Meaning'].map((head) => `<th scope="col">${head}</th>`).join('')
  const head = `<thead><tr>${heads}<th scope="col" class="spare">For example</th></tr></thead>`
  return `<details><summary>${kind === 'event' ? 'Event' : 'Venue'}</summary><table>${head}<tbody>${rows.join('')}</tbody></table></details>`
}

function hashed(text: string): string {
  return `'sha256-${hash('sha256', text, 'base64')}'`
}

/** Only this script and this style may run. Nothing is loaded from elsewhere, and no other page may embed this one. */
function policyOf(style: string, script: string): string {
  return [
    "default-src 'none'",
    `script-src ${hashed(script)}`,
    `style-src ${hashed(style)}`,
    "connect-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')
}

/** Returns the page's form for the parameters of lists and feeds; empty if the instance has neither. */
function listForm({ lists, feeds }: Pick<Instance, 'lists' | 'feeds'>): string {
  const listings: readonly Listing[] = [
    ...(lists ? (['events', 'venues', 'tags'] as const) : []),
    ...(feeds.calendar ? (['calendar'] as const) : []),
    ...(feeds.atom ? (['atom'] as const) : []),
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
