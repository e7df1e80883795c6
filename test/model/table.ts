import type { Guid } from '../../src/domain/guid.ts'
import { EMPTY_GUID } from '../../src/domain/guid.ts'
import type { State } from './story.ts'
import { Story } from './story.ts'

/** How a change is committed, and what the CRM reports of it. */
export interface Commit {
  readonly at: number
  /** Changes neither the row's sequence nor its updatedAt. */
  readonly untold: boolean
  /** How long before the commit the row's updatedAt was taken; negative if its clock is ahead. */
  readonly lateByMs: number
  /** Only a read of all rows will find it. */
  readonly silent: boolean
}

export interface Seen {
  readonly story: Story
  readonly state: State
}

/** The progress of a read of all rows. */
export interface Scan {
  /** When the read began, monotonic ms. */
  readonly begunMs: number
  /** The id of the last row that was read. */
  readonly after: string
  /** All ids it has named so far, including earlier passes. */
  readonly named: ReadonlySet<Guid>
}

/** One list of the model CRM: its rows, their history, and which are visible. */
export class Table {
  readonly name: 'events' | 'venues'
  readonly stories: Map<Guid, Story> = new Map()
  sequence = 0
  readonly deletions: { readonly id: Guid; readonly sequence: number }[] = []
  /** Counts all changes, reported or not: the fingerprint of a file. */
  changes = 0
  /** Called between two pages of a scan. */
  betweenPages: ((scan: Scan) => void) | null = null
  /** Rights are lost and only these rows are visible; `null` while all are. */
  visible: ReadonlySet<Guid> | null = null
  /** Rows that are unreadable because the format of a column has changed, and that stay on the web. */
  readonly garbled: Set<Guid> = new Set()
  /** Rows that are unreadable because of single mistakes, and that are not on the web. */
  readonly broken: Set<Guid> = new Set()
  /** When the hidden rows last returned. */
  restoredMs: number = Number.NEGATIVE_INFINITY

  constructor(name: 'events' | 'venues') {
    this.name = name
  }

  /** Returns the rows that exist at a time, by id. `sight` restricts them to visible ones. */
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

  /** Creates the row, again if it was deleted. */
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

  /** Sells a ticket. The details stay the same. */
  sell(story: Story, commit: Commit): void {
    const { state } = story
    if (state === undefined) return
    this.changes++
    story.states.push({
      ...state,
      ...this.#reported(state, commit),
      at: commit.at,
      sold: story.sell(commit.at, commit.silent, state.shown && isPrompt(commit)),
    })
  }

  #put(story: Story, commit: Commit, change: Partial<Pick<State, 'exists' | 'shown' | 'venue' | 'sold'>>): void {
    this.changes++
    const before = story.state ?? NEVER
    const merged = { ...before, ...change }
    // A row that appears is written again.
    if (merged.shown) this.broken.delete(story.id)
    if (merged.shown && !before.shown) this.garbled.delete(story.id)
    const isPromptly = before.shown && merged.shown && isPrompt(commit)
    const epoch = story.beginEpoch(commit.at, merged.shown, commit.silent, isPromptly)
    story.states.push({ ...merged, ...this.#reported(before, commit), at: commit.at, epoch })
    if (change.exists === false) this.deletions.push({ id: story.id, sequence: this.sequence })
  }

  #reported(before: State, commit: Commit): Pick<State, 'sequence' | 'updatedAtS'> {
    if (commit.untold) return { sequence: before.sequence, updatedAtS: before.updatedAtS }
    return { sequence: ++this.sequence, updatedAtS: updatedAtOf(commit) }
  }
}

function isPrompt({ untold, lateByMs, silent }: Commit): boolean {
  return !untold && !silent && lateByMs === 0
}

/** In whole seconds. Half a second more if it is in the future, so it never equals a timely one. */
export function updatedAtOf({ at, lateByMs }: Pick<Commit, 'at' | 'lateByMs'>): number {
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
