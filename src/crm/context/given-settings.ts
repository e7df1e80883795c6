import { printable } from '../../domain/printable.ts'
import { Secret, withoutSecrets } from '../../domain/secret.ts'

/** The value of a setting, on its way to a connector. */
export interface SentSetting {
  readonly value: string | number | boolean
  /** Whether it was given as `{ env }` or `{ file }`. */
  readonly isReference: boolean
}

export type SentSettings = Readonly<Record<string, SentSetting>>

/** The values of a connector's settings, as the configuration gives them. */
export type SettingValues = Readonly<Record<string, string | number | boolean | Secret>>

const LONGEST_SHOWN = 400
/** How much of a connector's sentence is kept until its secrets are removed. */
export const LONGEST_SENTENCE = 8192

/** The settings of a connector, with secrets that may be rotated. */
export class GivenSettings {
  readonly #given: Map<string, SettingValues[string]>

  constructor(given: SettingValues) {
    this.#given = new Map(Object.entries(given))
  }

  get sent(): SentSettings {
    const sent = Array.from(this.#given, ([name, value]): [string, SentSetting] => [
      name,
      value instanceof Secret ? { value: value.reveal(), isReference: true } : { value, isReference: false },
    ])
    return Object.fromEntries(sent)
  }

  /** Reads the secrets from their sources again; returns whether any has changed. */
  async refresh(): Promise<boolean> {
    let hasChanged = false
    for (const [name, value] of this.#given) {
      if (!(value instanceof Secret)) continue
      const fresh = await value.refresh()
      if (!fresh.ok || fresh.secret.reveal() === value.reveal()) continue
      this.#given.set(name, fresh.secret)
      hasChanged = true
    }
    return hasChanged
  }

  /** Names the files whose secrets are read again, as the rest of a sentence; empty if there are none. */
  get rereadNote(): string {
    const secrets = [...this.#given.values()].filter((value) => value instanceof Secret)
    const names = new Set(secrets.filter(({ isReread }) => isReread).map(({ from }) => from))
    if (names.size === 0) return ''
    return `; ${[...names].join(' and ')} ${names.size === 1 ? 'is' : 'are'} read again`
  }

  /**
   * Makes a connector's text fit for the log: without secrets and control characters. The text is cut after secrets are
   * removed, because otherwise the beginning of a secret could remain before the cut.
   */
  shown(text: string, longest = LONGEST_SHOWN): string {
    const secrets = [...this.#given.values()].flatMap((value) => (value instanceof Secret ? [...value.texts] : []))
    return printable(withoutSecrets(text, secrets), longest)
  }
}
