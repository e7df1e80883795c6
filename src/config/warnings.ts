import { EVENT_FIELDS } from '../domain/event.ts'
import { VENUE_FIELDS } from '../domain/venue.ts'
import type { Configuration } from './configuration.ts'
import { nearestName } from './nearest-name.ts'
import type { LinkTemplate } from './sections/representation.ts'

/** What is allowed and yet most likely not what was meant, a sentence each; values are not shown, since they may be `{ env }`'s. */
export function warningsOf({ freshness, representation }: Configuration): readonly string[] {
  const { links } = representation
  return [
    ...lateRefresh(freshness),
    ...links.event.flatMap((link, index) => misspelt(link, `representation.links.event[${index}]`, EVENT_FIELDS)),
    ...links.venue.flatMap((link, index) => misspelt(link, `representation.links.venue[${index}]`, VENUE_FIELDS)),
  ]
}

function lateRefresh({ refreshEveryMs, boundMs }: Configuration['freshness']): string[] {
  if (boundMs === 0 || refreshEveryMs <= boundMs) return []
  return ['freshness.refreshEvery is longer than freshness.bound: requests will wait for refreshes of their own']
}

function misspelt({ href }: LinkTemplate, key: string, fields: readonly { readonly name: string }[]): string[] {
  const names = fields.map((field) => field.name)
  const warnings: string[] = []
  for (const [, name = ''] of href.matchAll(/\{(\w+)\}/g)) {
    const near = names.includes(name) ? null : nearestName(name, names)
    if (near !== null)
      warnings.push(`${key}.href holds a name in braces that is no field, and stays as it is; did you mean {${near}}?`)
  }
  if (/\{[^{}]*(?:\{|$)/.test(href)) warnings.push(`${key}.href has a { without its }`)
  return warnings
}
