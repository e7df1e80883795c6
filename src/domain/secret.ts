import { inspect } from 'node:util'

/** The source of a secret: its name is shown in place of the secret's text. */
export interface SecretSource {
  /** The name of the source, for example `the file ./token` or `the environment variable TOKEN`. */
  readonly name: string
  /** Reads the source again; `null` if it cannot change while the process runs. */
  readonly reread: (() => Promise<Reread>) | null
}

/**
 * The source of a secret that is written in the configuration file itself, such as a URL; printed settings hide it too.
 */
export const IN_THE_FILE: SecretSource = { name: 'the configuration', reread: null }

export type Reread = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly message: string }

export type RefreshedSecret =
  | { readonly ok: true; readonly secret: Secret }
  /** `message` is a sentence that names the source, never its content. */
  | { readonly ok: false; readonly message: string }

const SHOWN = '[secret]'

/** A text that logs, dumps and templates cannot show; only `reveal()` returns it. */
export class Secret {
  readonly #text: string
  readonly #source: SecretSource
  readonly #texts: Set<string>

  constructor(text: string, source: SecretSource, earlier = new Set<string>()) {
    this.#text = text
    this.#source = source
    this.#texts = earlier.add(text)
  }

  /** The texts that the source has given so far, which `withoutSecrets` removes. */
  get texts(): ReadonlySet<string> {
    return this.#texts
  }

  reveal(): string {
    return this.#text
  }

  get from(): string {
    return this.#source.name
  }

  /** Whether the text is not in the configuration file itself. */
  get isReferred(): boolean {
    return this.#source !== IN_THE_FILE
  }

  /** Whether the source may change while the process runs. */
  get isReread(): boolean {
    return this.#source.reread !== null
  }

  /**
   * Returns the secret from its source as it is now: a file is read again, so secrets can be rotated without a restart.
   */
  async refresh(): Promise<RefreshedSecret> {
    const { reread } = this.#source
    if (reread === null) return { ok: true, secret: this }
    const read = await reread()
    if (!read.ok) return read
    return { ok: true, secret: read.text === this.#text ? this : new Secret(read.text, this.#source, this.#texts) }
  }

  toString(): string {
    return SHOWN
  }

  toJSON(): string {
    return SHOWN
  }

  [Symbol.toPrimitive](): string {
    return SHOWN
  }

  static {
    Object.defineProperty(Secret.prototype, inspect.custom, { value: () => SHOWN })
  }
}

/** Shorter texts may be common words. To remove them would garble messages, and tell where the secret is. */
const SHORTEST_REMOVED = 4
const SHORTEST_LINE_REMOVED = 16

/** Returns the text with `[secret]` for each secret, including its encoded forms. */
export function withoutSecrets(text: string, secrets: Iterable<string>): string {
  const forms = new Set([...secrets].flatMap(formsOf))
  // A secret may begin with another one.
  return [...forms]
    .toSorted((one, other) => other.length - one.length)
    .reduce((rest, form) => rest.replaceAll(form, SHOWN), text)
}

function formsOf(secret: string): readonly string[] {
  if (secret.length < SHORTEST_REMOVED) return []
  const json = JSON.stringify(secret).slice(1, -1)
  // A key in PEM is printed line by line.
  const lines = secret.split(/\r?\n/).filter((line) => line.length >= SHORTEST_LINE_REMOVED)
  const form = new URLSearchParams([['', secret]]).toString().slice(1)
  return [secret, encodeURIComponent(secret.toWellFormed()), form, json, json.replaceAll('/', '\\/'), ...lines]
}

/** Whether the text is a URL with a password, and so must be a secret. */
export function holdsPassword(text: string): boolean {
  if (!text.includes('://')) return false
  const url = URL.parse(text.trim())
  // For URLs that do not parse (`postgres://u:p#w@host`, `{…}` for a port), the pattern decides.
  return url === null
    ? /^[^\s:/]+:\/\/[^\s/:@]*:[^\s@]*@/.test(text.trim())
    : url.password !== '' || Boolean(url.searchParams.get('password'))
}
