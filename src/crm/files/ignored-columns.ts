const MOST = 100
const LONGEST = 80

/** The columns of one file that nothing reads, each once; a file with a new one in each row does not fill the memory. */
export class IgnoredColumns {
  readonly #known: ReadonlySet<string>
  readonly #names = new Set<string>()

  constructor(known: readonly string[]) {
    this.#known = new Set(known)
  }

  get names(): readonly string[] {
    return [...this.#names]
  }

  sawColumn(name: string): void {
    if (!this.#known.has(name) && this.#names.size < MOST) this.#names.add(name.slice(0, LONGEST))
  }

  sawRow(row: object): void {
    for (const name in row) if (!this.#known.has(name)) this.sawColumn(name)
  }
}
