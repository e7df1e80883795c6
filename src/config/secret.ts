import { inspect } from 'node:util'

/** Where a secret's text was read from; shown to people in place of the text. */
export interface SecretSource {
  /** For example `the file ./token` or `the environment variable TOKEN`. */
  readonly name: string
  /** Reads the source again; null where it cannot change while the process runs. */
  readonly reread: (() => Promise<Reread>) | null
}

/** Where a text is from that may be written in the file, and yet is kept from whoever prints settings. */
export const IN_THE_FILE: SecretSource = { name: 'the configuration', reread: null }

export type Reread = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly message: string }

export type RefreshedSecret =
  | { readonly ok: true; readonly secret: Secret }
  /** `message` is a sentence that names the source, never what it holds. */
  | { readonly ok: false; readonly message: string }

const SHOWN = '[secret]'

/** A text that no log, dump or template can show; `reveal()` is the only way to it. */
export class Secret {
  readonly #text: string
  readonly #source: SecretSource

  constructor(text: string, source: SecretSource) {
    this.#text = text
    this.#source = source
  }

  reveal(): string {
    return this.#text
  }

  /** The name of the source, which may be shown. */
  get from(): string {
    return this.#source.name
  }

  /** Its source may come to hold another text while the process runs. */
  get isReread(): boolean {
    return this.#source.reread !== null
  }

  /** The secret as its source holds it now: a file is read again (rotation without a restart), anything else is as it was. */
  async refresh(): Promise<RefreshedSecret> {
    const { reread } = this.#source
    if (reread === null) return { ok: true, secret: this }
    const read = await reread()
    if (!read.ok) return read
    return { ok: true, secret: read.text === this.#text ? this : new Secret(read.text, this.#source) }
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
