import { checkAnswers, startMarquee } from './contestants.ts'
import { writeLists } from './lists.ts'
import { pacedResult, startPaced } from './load.ts'
import { peakRssBytes, RUNTIME_NAMES, RUNTIMES, usageOf } from './machine.ts'
import { startListWriter } from './read.ts'
import { median, megabytes, spread, type Table } from './report.ts'
import type { Scale, Workshop } from './workshop.ts'

/** Requests a second, for random events in all formats. */
const RATE = 2000
/** The least that `limits.readyBodies` takes: memory without bodies that are ready to send. */
const HARDLY_ANY_BODIES = '1MB'

/** Memory, and the time from the start of a process to its first answer, as the lists grow. */
export async function size(workshop: Workshop, { sizes, starts, seconds }: Scale): Promise<readonly Table[]> {
  const rows: string[][] = []
  for (const events of sizes) {
    const lists = writeLists(workshop.folder(), events)
    for (const runtime of RUNTIMES) {
      const startsMs: number[] = []
      const restingBytes: number[] = []
      const keys = {
        crm: { kind: 'files', directory: lists.directory },
        freshness: { maxAge: '5m' },
        limits: { readyBodies: HARDLY_ANY_BODIES },
      }
      for (let turn = 0; turn < starts; turn++) {
        const { startMs, pid } = await startMarquee(workshop, runtime, lists.lastId, keys)
        startsMs.push(startMs)
        restingBytes.push(usageOf(pid).rssBytes)
        await workshop.tidy()
      }
      const server = await startMarquee(workshop, runtime, lists.lastId, keys)
      await checkAnswers(server, lists.ids)
      workshop.keep(await startListWriter(lists.eventsFile, 2 * seconds))
      // Long enough for a full read of the changed list.
      const loadSeconds = 4 * seconds + Math.ceil((2 * median(startsMs)) / 1000)
      await pacedResult(startPaced(server.port, lists.idsFile, RATE, loadSeconds), loadSeconds)
      rows.push([
        String(events),
        RUNTIME_NAMES[runtime],
        spread(startsMs),
        megabytes(median(restingBytes)),
        megabytes(peakRssBytes(server.pid)),
      ])
      await workshop.tidy()
    }
  }
  const head = ['events', 'runtime', 'first answer after ms', 'memory MB, at rest', 'highest']
  return [{ title: 'Start and memory', head, rows }]
}
