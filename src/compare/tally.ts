import { type Class, type Difference, type ValuePair, CLASSES } from './difference.ts'
import { type Question, endpointOf } from './questions.ts'
import type { Reply } from './remote-service.ts'

/** The outcome of one question. */
export interface ComparedAnswer {
  readonly question: Question
  readonly class: Class
  readonly findings: readonly Difference[]
  /** Both answers side by side. Empty if an example of each finding is known. */
  readonly rows: readonly ValuePair[]
}

/** All findings of one kind at one path, or of one departure. */
export interface Group {
  readonly class: Class
  readonly what: string
  readonly at: string
  count: number
  /** The first outcome with the finding. */
  readonly example: ComparedAnswer
  readonly old: string | null
  readonly new: string | null
}

type Counts = Record<Class, number>

/** More kinds than anyone reads. Further ones are counted together. */
const MOST_GROUPS = 1000
const FURTHER = 'of further kinds'
const MOST_EXAMPLE_ROWS = 60
const MOST_ROWS = 200

/** Counts outcomes by class, by endpoint and type, and by kind of difference. */
export class ComparisonTally {
  readonly counts: Counts = noCounts()
  /** By endpoint and type, as `/api/events/{id} text/xml`. */
  readonly table: Map<string, Counts> = new Map()
  /** The names of header fields that each service has sent with a record. */
  readonly #oldFields = new Set<string>()
  readonly #newFields = new Set<string>()
  readonly #groups = new Map<string, Group>()
  /** The requests of the log that the outcomes stand for, and those without a difference. */
  requests = 0
  alike = 0

  /** Adds an outcome, and returns what has to be kept of it to add it again later. */
  add(compared: ComparedAnswer): ComparedAnswer {
    const { question, findings, class: kind } = compared
    this.counts[kind]++
    this.requests += question.weight
    if (kind !== 'different') this.alike += question.weight
    const type = question.method === 'HEAD' ? 'HEAD' : question.accept
    const row = `${endpointOf(question.path) ?? 'other paths'} ${this.table.size < MOST_ROWS ? type : 'other types'}`
    const counts = this.table.get(row) ?? noCounts()
    counts[kind]++
    this.table.set(row, counts)
    const isNew = findings.map((finding) => this.#note(finding, compared)).includes(true)
    return isNew ? compared : { ...compared, rows: [] }
  }

  /** Returns true if the answer became an example. */
  #note({ class: kind, what, at, old, new: fresh }: Difference, compared: ComparedAnswer): boolean {
    // A departure is one thing, wherever it shows.
    const key = kind === 'intended' ? what : `${kind} ${what} ${at}`
    const group = this.#groups.get(key)
    if (group !== undefined) group.count++
    else if (this.#groups.size >= MOST_GROUPS && what !== FURTHER)
      return this.#note({ class: kind, what: FURTHER, at: '/', old: null, new: null }, compared)
    else {
      const example = { ...compared, rows: exampleRows(compared.rows) }
      this.#groups.set(key, { class: kind, what, at, count: 1, example, old, new: fresh })
    }
    return group === undefined
  }

  /** Notes the header fields of two answers with a record. */
  noteFields(old: Reply, fresh: Reply): void {
    if (old.status !== 200 || fresh.status !== 200) return
    for (const name of Object.keys(old.headers)) this.#oldFields.add(name)
    for (const name of Object.keys(fresh.headers)) this.#newFields.add(name)
  }

  /** The names of header fields that only one service sends with records. */
  get fields(): { readonly onlyOld: readonly string[]; readonly onlyNew: readonly string[] } {
    return {
      onlyOld: recordFields(this.#oldFields.difference(this.#newFields)),
      onlyNew: recordFields(this.#newFields.difference(this.#oldFields)),
    }
  }

  get comparisons(): number {
    return CLASSES.reduce((sum, name) => sum + this.counts[name], 0)
  }

  /** The worst class first, in each the most frequent first. */
  groups(): readonly Group[] {
    const rank = ({ class: kind, what, count }: Group): number =>
      CLASSES.indexOf(kind) * 1e9 + (what === FURTHER ? 0 : count)
    return [...this.#groups.values()].toSorted((one, other) => rank(other) - rank(one))
  }
}

const OF_THE_CONNECTION: ReadonlySet<string> = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'date',
  'keep-alive',
  'transfer-encoding',
])

function recordFields(names: ReadonlySet<string>): readonly string[] {
  return [...names].filter((name) => !OF_THE_CONNECTION.has(name))
}

function noCounts(): Counts {
  return { sameBytes: 0, sameMeaning: 0, intended: 0, changing: 0, different: 0 }
}

/** Keeps the rows that differ, and the first others. */
function exampleRows(rows: readonly ValuePair[]): readonly ValuePair[] {
  if (rows.length <= MOST_EXAMPLE_ROWS) return rows
  const differing = rows.filter(({ what }) => what !== null).slice(0, MOST_EXAMPLE_ROWS)
  const kept = new Set([...differing, ...rows.slice(0, MOST_EXAMPLE_ROWS - differing.length)])
  return rows.filter((row) => kept.has(row))
}
