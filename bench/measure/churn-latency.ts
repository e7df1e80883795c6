import type { Runtime } from '../../test/support/child.ts'
import { ticketsOf } from '../lists/row-watch.ts'
import { startWriter } from '../lists/writer.ts'
import { openLoader } from '../load/load.ts'
import type { Paced } from '../load/paced-load.ts'
import { pacedResult, startPaced } from '../load/paced-load.ts'
import { peakRssBytes } from '../machine/process-tree.ts'
import type { Freshness } from '../servers/marquee.ts'
import { startFloor } from '../servers/floor.ts'
import { startMarquee } from '../servers/marquee.ts'
import type { Server } from '../servers/server.ts'
import type { Workshop } from '../workshop.ts'

export interface ChurnSetting {
  readonly events: number
  readonly freshness: Freshness
  /** How often each of the two loads is measured. */
  readonly turns: number
  readonly seconds: number
  readonly peakSeconds: number
  /**
   * The time after its last change in which a list may still be read: one that changed just before a read is read
   * twice.
   */
  readonly settlingSeconds: number
}

/** The same load without changes and with one row in a hundred changing each second, alternately. */
export interface Churn {
  readonly runtime: Runtime
  /** Requests a second: half of the service's maximum. */
  readonly rate: number
  readonly idle: readonly Paced[]
  readonly changing: readonly Paced[]
  /** The runtime itself at that rate. */
  readonly floor: Paced
  readonly peakBytes: number
}

export async function measureChurn(workshop: Workshop, runtime: Runtime, setting: ChurnSetting): Promise<Churn> {
  const { events, freshness, turns, seconds, peakSeconds, settlingSeconds } = setting
  const lists = workshop.changingLists(events)
  const loader = openLoader(workshop, lists)
  const server = await startMarquee(workshop, runtime, lists, freshness)
  const settle = (): Promise<void> => Bun.sleep(settlingSeconds * 1000)
  // The first load lets the runtime compile.
  await loader.load(server.port, peakSeconds)
  await settle()
  // The better of two: other work on the machine can only lower a result.
  const peaks = [await loader.load(server.port, peakSeconds), await loader.load(server.port, peakSeconds)]
  const rate = Math.round(Math.max(...peaks.map(({ perSecond }) => perSecond)) / 2)
  const pace = ({ port }: Server): Promise<Paced> =>
    pacedResult(startPaced(port, lists.idsFile, rate, seconds), seconds)

  const [idle, changing]: [Paced[], Paced[]] = [[], []]
  for (let turn = 0; turn < turns; turn++) {
    if (turn > 0) await settle()
    idle.push(await pace(server))
    const before = await ticketsOf(server.port, lists.lastId)
    const writer = workshop.keep(await startWriter(lists.eventsFile, 1))
    changing.push(await pace(server))
    await writer.stop()
    if ((await ticketsOf(server.port, lists.lastId)) === before) throw new Error('no change was served meanwhile')
  }
  const peakBytes = peakRssBytes(server.pid)
  await workshop.tidy()
  const floor = await pace(await startFloor(workshop, runtime, lists))
  await workshop.tidy()
  return { runtime, rate, idle, changing, floor, peakBytes }
}
