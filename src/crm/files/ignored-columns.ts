const MOST = 100
const LONGEST = 80
const LINK_MEMBERS = ['Rel', 'Href', 'Title']

/** The columns of one file that nothing reads, each once; a file with a new one in each row does not fill the memory. */
export class IgnoredColumns {
  /** What somebody reads of a row, or of the links in it. */
  readonly wanted: ReadonlySet<string>
  readonly #known: ReadonlySet<string>
  readonly #names = new Set<string>()
  #before: readonly string[]

  /** @param before those of the read before this one, which a row has that it did not change */
  constructor(known: readonly string[], before: readonly string[] = []) {
    this.#known = new Set(known)
    this.wanted = new Set([...known, ...LINK_MEMBERS])
    this.#before = before
  }

  get names(): readonly string[] {
    return [...this.#names]
  }

  sawColumn(name: string): void {
    if (this.#names.size < MOST && !this.#known.has(name)) this.#names.add(name.slice(0, LONGEST))
  }

  /** A row that is as it was in the read before. */
  sawRowAgain(): void {
    for (const name of this.#before) this.sawColumn(name)
    this.#before = []
  }

  sawRow(row: object): void {
    for (const name in row) if (!this.#known.has(name)) this.sawColumn(name)
  }
}
