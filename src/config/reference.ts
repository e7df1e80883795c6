import type { Reread } from './secret.ts'

/** A value that came from `{ env: NAME }` or `{ file: PATH }`: always text, and never to be shown. */
export class Referenced {
  readonly text: string
  /** What may be shown in its place, such as `the environment variable PORT`. */
  readonly name: string
  readonly reread: (() => Promise<Reread>) | null

  constructor(text: string, name: string, reread: (() => Promise<Reread>) | null) {
    this.text = text
    this.name = name
    this.reread = reread
  }
}

/** Stands where a value was that has a problem already; whoever meets it says nothing more. */
export class Reported {
  readonly kind = 'reported'
}
