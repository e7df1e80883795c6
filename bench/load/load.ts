import type { Lists } from '../lists/data.ts'
import { findTool } from '../machine/find-tool.ts'
import type { Workshop } from '../workshop.ts'
import { Autocannon } from './autocannon.ts'
import type { Loader } from './callers.ts'
import { Wrk } from './wrk.ts'
import type { Popularity } from './zipf.ts'

/** Opens wrk if it is installed, else autocannon. */
export function openLoader(workshop: Workshop, lists: Lists, popularity: Popularity = 'even'): Loader {
  const wrk = findTool('wrk')
  if (wrk !== null) return new Wrk(wrk, workshop.folder(), lists.idsFile, popularity)
  workshop.leftOut.add(
    'wrk: it is not installed; autocannon took its place, which sends less and tells latency in whole ms',
  )
  const autocannon = new Autocannon(lists.idsFile, popularity)
  workshop.keep(autocannon)
  return autocannon
}
