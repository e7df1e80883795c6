import type { Guid } from '../../src/domain/guid.ts'
import { EMPTY_GUID } from '../../src/domain/guid.ts'
import type { State } from './story.ts'
import { Story } from './story.ts'

/** How a change is committed, and what the CRM tells of it. */
export interface Commit {
  readonly at: number
  /** Moves neither the row's sequence nor its timestamp. */
  readonly untold: boolean
  /** How long before the commit the row's timestamp was taken; below 0 where the clock that gave it is ahead. */
  readonly lateByMs: number
  /** Nothing but a read of all rows will find it. */
  readonly silent: boolean
}

export interface Seen {
  readonly story: Story
  readonly state: State
}

/** How far a read of all rows has come. */
export interface Scan {
  /** When it began, by the monotonic clock. */
  readonly begunMs: number
  /** The id of the last row that was read. */
  readonly after: string
  /** All that it has named so far, in an earlier pass too. */
  readonly named: ReadonlySet<Guid>
}

/** One list of the model CRM: its rows, their history, and who may see which. */
export class Table {
  readonly name: 'events' | 'venues'
  readonly stories: Map<Guid, Story> = new Map()
  sequence = 0
  readonly deletions: { readonly id: Guid; readonly sequence: number }[] = []
  /** Counts all changes, told or not: the fingerprint of a file. */
  changes = 0
  /** Called between two pages of a scan. */
  betweenPages: ((scan: Scan) => void) | null = null
  /** The rights are lost: only this part of the rows is to be seen; null while all are. */
  visible: ReadonlySet<Guid> | null = null
  /** The format of a column has changed: rows that nobody can read now, and that are on the web all the same. */
  readonly garbled: Set<Guid> = new Set()
  /** Rows that nobody can read, each by a mistake of its own: they are not on the web. */
  readonly broken: Set<Guid> = new Set()
  /** When they were last back. */
  restoredMs: number = Number.NEGATIVE_INFINITY

  constructor(name: 'events' | 'venues') {
    this.name = name
  }

  /** Rows that exist as of a time, in the order of their ids; `sight` limits them to those that may be seen. */
  rowsAt(ms: number, sight: ReadonlySet<Guid> | null): Seen[] {
    const rows: Seen[] = []
    for (const story of this.stories.values()) {
      const state = story.stateAt(ms)
      if (state?.exists === true && (sight === null || sight.has(story.id))) rows.push({ story, state })
    }
    return rows
  }

  shown(): Story[] {
    return [...this.stories.values()].filter((story) => story.state?.shown === true)
  }

  /** Creates the row, again where it was deleted. */
  create(id: Guid, venue: Guid, commit: Commit): Story {
    let story = this.stories.get(id)
    if (story === undefined) {
      story = new Story(id)
      this.stories.set(id, story)
      story.beginEpoch(0, false, false, false)
    }
    const sold = story.sell(commit.at, commit.silent, false)
    this.#put(story, commit, { exists: true, shown: true, venue, sold })
    return story
  }

  change(story: Story, change: Partial<Pick<State, 'exists' | 'shown' | 'venue'>>, commit: Commit): void {
    this.#put(story, commit, change)
  }

  /** Sells a ticket; the details stay what they are. */
  sell(story: Story, commit: Commit): void {
    const { state } = story
    if (state === undefined) return
    this.changes++
    story.states.push({
      ...state,
      ...this.#stamps(state, commit),
      at: commit.at,
      sold: story.sell(commit.at, commit.silent, state.shown && isPrompt(commit)),
    })
  }

  #put(story: Story, commit: Commit, change: Partial<Pick<State, 'exists' | 'shown' | 'venue' | 'sold'>>): void {
    this.changes++
    const before = story.state ?? NEVER
    const merged = { ...before, ...change }
    // A row that comes is written anew.
    if (merged.shown) this.broken.delete(story.id)
    if (merged.shown && !before.shown) this.garbled.delete(story.id)
    const isPromptly = before.shown && merged.shown && isPrompt(commit)
    const epoch = story.beginEpoch(commit.at, merged.shown, commit.silent, isPromptly)
    story.states.push({ ...merged, ...this.#stamps(before, commit), at: commit.at, epoch })
    if (change.exists === false) this.deletions.push({ id: story.id, sequence: this.sequence })
  }

  #stamps(before: State, commit: Commit): Pick<State, 'sequence' | 'updatedAtS'> {
    if (commit.untold) return { sequence: before.sequence, updatedAtS: before.updatedAtS }
    return { sequence: ++this.sequence, updatedAtS: stampOf(commit) }
  }
}

function isPrompt({ untold, lateByMs, silent }: Commit): boolean {
  return !untold && !silent && lateByMs === 0
}

/** In whole seconds; half a second off where it lies ahead, so that no row gets the same in good time. */
export function stampOf({ at, lateByMs }: Pick<Commit, 'at' | 'lateByMs'>): number {
  return Math.floor((at - lateByMs) / 1000) + (lateByMs < 0 ? 0.5 : 0)
}

const NEVER: State = {
  at: 0,
  exists: false,
  shown: false,
  epoch: 0,
  sold: 0,
  venue: EMPTY_GUID,
  sequence: 0,
  updatedAtS: 0,
}
