import type { Runtime } from '../../test/support/child.ts'
import { ticketsOf, untilChanged } from '../lists/row-watch.ts'
import { startWriter } from '../lists/writer.ts'
import { pacedResult, startPaced } from '../load/paced-load.ts'
import { peakRssBytes } from '../machine/process-tree.ts'
import type { Freshness } from '../servers/marquee.ts'
import { startMarquee } from '../servers/marquee.ts'
import type { Workshop } from '../workshop.ts'
import { scaled } from './scale.ts'

/** Requests a second, for random events in all formats. */
export const MEMORY_RATE = 5000
const ROUND_S = scaled(10, 1)
const PATIENCE_S = 600

/** A maximum age longer than a read of the largest list, so callers do not wait for it. */
export const LONG_READS: Freshness = scaled({ maxAge: '5m' }, { maxAge: '5m', refreshEvery: '1s' })

/** Measures the peak memory of a service with this many changing events, including a full read under load. */
export async function peakMemory(
  workshop: Workshop,
  runtime: Runtime,
  events: number,
  readyBodies?: string,
): Promise<number> {
  const lists = workshop.changingLists(events)
  const server = await startMarquee(workshop, runtime, lists, LONG_READS, readyBodies)
  const before = await ticketsOf(server.port, lists.lastId)
  workshop.keep(await startWriter(lists.eventsFile, ROUND_S))
  const client = workshop.keep(startPaced(server.port, lists.idsFile, MEMORY_RATE, PATIENCE_S))
  await untilChanged(server.port, lists.lastId, before, PATIENCE_S)
  client.signal('SIGTERM')
  await pacedResult(client, PATIENCE_S)
  const peakBytes = peakRssBytes(server.pid)
  await workshop.tidy()
  return peakBytes
}
