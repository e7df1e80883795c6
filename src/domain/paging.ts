/** How the pages of a list are requested, as far as its keys depend on one another. */
interface Paging {
  readonly by: 'none' | 'page' | 'offset' | 'key' | 'next' | 'link' | 'cursor'
  readonly at?: string
  readonly total?: unknown
  readonly whole?: boolean
  readonly size?: number
}

/** The placeholder that each way of paging needs. Without it, every request would return the same page. */
const NEEDED: Partial<Record<Paging['by'], string>> = { page: 'page', offset: 'offset', key: 'after', cursor: 'cursor' }

/**
 * Explains why pages cannot be requested in this way, as the rest of a sentence; `null` if they can.
 * @param written the path, the query and the body of the request
 */
export function pagingFault({ by, at, total, whole, size }: Paging, written: readonly unknown[]): string | null {
  const needed = NEEDED[by]
  if (needed !== undefined && !JSON.stringify(written).includes(`{${needed}}`))
    return `by ${by} needs '{${needed}}' in the path, the query or the body`
  if (at === undefined && (by === 'next' || by === 'cursor'))
    return `by ${by} needs at: the path of the ${by === 'next' ? 'next page’s URL' : 'cursor'}`
  if (by === 'none' && total === undefined && whole !== true)
    return 'by none needs total or whole: true; otherwise Marquee cannot know whether one answer has all rows'
  if (by === 'offset' && size !== undefined && size < 2)
    return 'by offset needs a size of at least 2, since pages overlap by a row'
  return null
}
