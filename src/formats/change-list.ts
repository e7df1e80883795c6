import { untitled } from '../domain/field.ts'
import { jsonString } from '../domain/escape.ts'
import { linkObject } from './hal-json.ts'

/** A page of changes. `next` is written as in plain JSON: `~/changes?since=…`. */
export interface ChangeList {
  readonly changes: readonly {
    readonly list: 'events' | 'venues'
    readonly id: string
    readonly state: 'updated' | 'removed'
  }[]
  readonly next: string
  readonly more: boolean
}

const KINDS = { events: 'event', venues: 'venue' } as const

/** Writes changes as JSON or HAL JSON (docs/changes.md). `basePath` is empty for the root. */
export function changeList({ changes, next, more }: ChangeList, isHal: boolean, basePath: string): string {
  const items = changes.map(({ list, id, state }) => {
    const href = `~/${list}/${id}`
    const common = `"Kind":"${KINDS[list]}","Id":"${id}","State":"${state}"`
    return isHal
      ? `{${common},"_links":{"self":${linkObject(untitled('self', href), basePath)}}}`
      : `{${common},"Href":"${href}"}`
  })
  if (!isHal) return `{"Items":[${items.join(',')}],"Next":${jsonString(next)},"More":${more}}`
  const link = linkObject(untitled('next', next), basePath)
  return `{"More":${more},"_links":{"next":${link}},"_embedded":{"change":[${items.join(',')}]}}`
}
