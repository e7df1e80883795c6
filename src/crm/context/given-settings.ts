import { printable } from '../../domain/printable.ts'
import { Secret, withoutSecrets } from '../../domain/secret.ts'
import { nearestName } from '../../domain/nearest-name.ts'
import type { Connector } from '../connector/marquee-connector.d.ts'
import type { HttpSettings } from './http-context.ts'

interface SentSetting {
  readonly value: string | number | boolean
  /** Whether it was given as `{ env }` or `{ file }`. */
  readonly isReference: boolean
}

export type SentSettings = Readonly<Record<string, SentSetting>>

export type SettingValues = Readonly<Record<string, string | number | boolean | Secret>>

const LONGEST_SHOWN = 400
/** How much of a connector's sentence is kept until its secrets are removed. */
export const LONGEST_SENTENCE = 8192

/** The settings of a connector, with secrets that may be rotated. */
export class GivenSettings {
  readonly #values: Map<string, SettingValues[string]>
  readonly #longest: number

  /** @param longest the most characters of a sentence that are shown */
  constructor(values: SettingValues, longest: number = LONGEST_SHOWN) {
    this.#values = new Map(Object.entries(values))
    this.#longest = longest
  }

  get sent(): SentSettings {
    const sent = Array.from(this.#values, ([name, value]): [string, SentSetting] => [
      name,
      value instanceof Secret ? { value: value.reveal(), isReference: true } : { value, isReference: false },
    ])
    return Object.fromEntries(sent)
  }

  async refresh(): Promise<boolean> {
    let hasChanged = false
    for (const [name, value] of this.#values) {
      if (!(value instanceof Secret)) continue
      const fresh = await value.refresh()
      if (!fresh.ok || fresh.secret.reveal() === value.reveal()) continue
      this.#values.set(name, fresh.secret)
      hasChanged = true
    }
    return hasChanged
  }

  /** Names the files whose secrets are read again, as the rest of a sentence; empty if there are none. */
  get rereadNote(): string {
    const secrets = [...this.#values.values()].filter((value) => value instanceof Secret)
    const names = new Set(secrets.filter(({ isReread }) => isReread).map(({ from }) => from))
    if (names.size === 0) return ''
    return `; ${[...names].join(' and ')} ${names.size === 1 ? 'is' : 'are'} read again`
  }

  /**
   * Makes a connector's text fit for the log: without secrets and control characters. The text is cut after secrets are
   * removed, because otherwise the beginning of a secret could remain before the cut.
   */
  shown(text: string, longest: number = this.#longest): string {
    const secrets = [...this.#values.values()].flatMap((value) => (value instanceof Secret ? [...value.texts] : []))
    return printable(withoutSecrets(text, secrets), longest)
  }
}

interface CheckedSettings {
  readonly settings: Readonly<Record<string, string | number | boolean>>
  readonly origins: ReadonlySet<string>
}

/** Checks `crm.settings` against what the connector declares; returns a sentence if they do not fit. */
export function settingsFor({ settings: declared = {} }: Connector, sent: SentSettings): CheckedSettings | string {
  const settings: Record<string, string | number | boolean> = {}
  const origins = new Set<string>()
  for (const name of Object.keys(sent)) {
    if (Object.hasOwn(declared, name)) continue
    const near = nearestName(name, Object.keys(declared))
    const known = Object.keys(declared).join(', ') || 'none'
    return `crm.settings.${name} is not a setting of the connector; ${near === null ? `it has: ${known}` : `did you mean ${near}?`}`
  }
  for (const [name, kind] of Object.entries(declared)) {
    const setting = sent[name]
    if (setting === undefined) return `crm.settings.${name} is missing: the connector needs it (${kind})`
    const value = valueAs(kind, setting)
    if (value === null)
      return `crm.settings.${name} must be ${ALLOWED.get(kind) ?? 'text, url, secret, number or flag'}`
    settings[name] = value
    if (kind === 'url') origins.add(new URL(String(value)).origin)
  }
  return { settings, origins }
}

const ALLOWED: ReadonlyMap<string, string> = new Map([
  ['text', 'a text'],
  ['url', 'a URL that begins with https: or http:, without a user'],
  ['secret', 'given as { env: NAME } or { file: PATH }'],
  ['number', 'a number'],
  ['flag', 'true or false'],
])

function valueAs(kind: string, { value, isReference }: SentSetting): string | number | boolean | null {
  if (kind === 'secret') return isReference && typeof value === 'string' ? value : null
  if (kind === 'text') return typeof value === 'boolean' ? null : String(value)
  if (kind === 'url') return urlOf(value)
  if (kind === 'number') {
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
    return typeof number === 'number' && Number.isFinite(number) ? number : null
  }
  if (kind !== 'flag') return null
  return typeof value === 'boolean' ? value : value === 'true' ? true : value === 'false' ? false : null
}

/** Returns the URL without a slash at its end, because connectors write `${settings.url}/events`. */
function urlOf(value: SentSetting['value']): string | null {
  const url = typeof value === 'string' ? URL.parse(value.trim()) : null
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:') || url.username !== '') return null
  return String(value).trim().replace(/\/+$/, '')
}

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 }
const MOST_AT_ONCE = 3
const USUAL_BUDGET = { most: 600, perMs: 60_000 }

export function budgetOf({ requests }: Connector): Pick<HttpSettings, 'atOnce' | 'budget'> | string {
  const { atOnce = MOST_AT_ONCE, most, per = '1m' } = requests ?? {}
  if (!Number.isInteger(atOnce) || atOnce < 1 || atOnce > 20)
    return 'requests.atOnce must be a whole number from 1 to 20'
  if (most === undefined) return { atOnce, budget: USUAL_BUDGET }
  const [, digits = '', unit = ''] = /^(\d{1,7})(s|m|h)$/.exec(per) ?? []
  const perMs = Number(digits) * (UNITS[unit] ?? 0)
  if (!Number.isInteger(most) || most < 1 || perMs <= 0) return "requests must be such as { most: 60, per: '1m' }"
  return { atOnce, budget: { most, perMs } }
}
