import type { Lists } from '../lists/data.ts'
import { findTool } from '../machine/find-tool.ts'
import type { Workshop } from '../workshop.ts'
import { Autocannon } from './autocannon.ts'
import { Wrk } from './wrk.ts'
import type { Popularity } from './zipf.ts'

/** What a server made of as many requests as it could take. */
export interface Load {
  readonly requests: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly p999Ms: number
  /** Answers with a status of 400 or more; 404 to the unknown ids among them. */
  readonly refused: number
  /** Connections that failed, and requests that were not answered in time. */
  readonly errors: number
}

/** A client that asks for random events in random formats, as fast as it is answered. */
export interface Loader {
  readonly load: (port: number, seconds: number) => Promise<Load>
}

/** wrk where it is installed, else autocannon. */
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
