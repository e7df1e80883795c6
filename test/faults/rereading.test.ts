import { afterEach, expect, it } from 'bun:test'
import fc from 'fast-check'
import { assembleAlone } from '../../src/app/assemble.ts'
import { loadConfiguration } from '../../src/config/read-configuration.ts'
import { readSmallFile } from '../../src/time/read-text.ts'
import { parseGuid } from '../../src/domain/guid.ts'
import { systemTime } from '../../src/time/time.ts'
import { eventually } from '../support/eventually.ts'
import { FilesDirectory } from '../support/files-directory.ts'

const IDS = Array.from({ length: 4 }, (_, index) => `5f6c2a3e-8d0b-4c57-9e21-0a4b7d9c1e3${index}`)

/** An item of a list: some ids come twice, some are not shown, some cannot be read. */
const item = fc
  .record({
    Id: fc.constantFrom(...IDS, 'none'),
    Name: fc.constantFrom('Gala', 'Café'),
    Start: fc.constantFrom('2036-07-12T19:30:00+01:00', 'soon'),
    Finish: fc.constant('2036-07-12T23:00:00+01:00'),
    ShowOnWeb: fc.constantFrom(true, true, true, false),
    Unread: fc.constantFrom(1, 2),
  })
  .map((row) => JSON.stringify(row))

/** The versions of a file; lines are few, so that most come again in the next one. */
const history = fc.array(fc.array(item, { maxLength: 5 }), { minLength: 2, maxLength: 5 }).chain((versions) => {
  const all = versions.flat()
  const again = all.length === 0 ? fc.constant<string[]>([]) : fc.array(fc.constantFrom(...all), { maxLength: 6 })
  return fc.tuple(fc.constant(versions), fc.array(again, { minLength: 1, maxLength: 3 })).map((both) => both.flat())
})

type Marquee = Awaited<ReturnType<typeof assembleAlone>>

const opened: { readonly marquee: Marquee; readonly directory: FilesDirectory }[] = []

async function open(freshness: object = { shrinkGuard: 'off' }): Promise<(typeof opened)[number]> {
  const directory = new FilesDirectory({ freshness }, { venues: '[]' })
  const loaded = await loadConfiguration({ path: directory.configuration, env: {}, readFile: readSmallFile })
  if (!loaded.ok) throw new Error('the configuration is wrong', { cause: loaded.problems })
  const one = { marquee: await assembleAlone(loaded.configuration, systemTime, () => {}), directory }
  opened.push(one)
  return one
}

async function close(): Promise<void> {
  for (const { marquee, directory } of opened.splice(0)) {
    await marquee.reading.replica.stop()
    await marquee.crm.close()
    directory.remove()
  }
}

/** All that anyone can learn of the events. */
function shown({
  reading: {
    replica: { events },
  },
}: Marquee): unknown {
  return {
    served: IDS.map((id) => {
      const guid = parseGuid(id)
      return guid === null ? null : events.list.get(guid)
    }),
    count: [events.list.served, events.list.withheld],
    withheld: [...events.list.withheldRows()].map((row) => JSON.stringify(row)).toSorted(),
  }
}

afterEach(close)

it('a list that was put right is read within refreshEvery, however long the back-off is by then', async () => {
  const { marquee, directory } = await open({ maxAge: '60s', refreshEvery: '50ms', shrinkGuard: 'off' })
  directory.write('events', '[{')
  marquee.reading.replica.start()
  const { events } = marquee.reading.replica
  while (events.refresh.failures < 6) await events.refresh.attempt()
  // The next try, which has 0 to 5 s to come, must not be what is seen.
  while (events.refresh.nextTryInMs < 3000) await events.refresh.attempt()
  const latest = performance.now() + events.refresh.nextTryInMs
  directory.write('events', '[]')
  await eventually(
    async () => events.refresh.failures,
    (failures) => failures === 0,
  )
  expect(performance.now()).toBeLessThan(latest)
})

it('a list that is read again by its changed lines is as one that is read for the first time', async () => {
  await fc.assert(
    fc.asyncProperty(history, async (versions) => {
      const [reader, fresh] = [await open(), await open()]
      for (const rows of versions) {
        reader.directory.write('events', `[\n${rows.join(',\n')}\n]`)
        expect(await reader.marquee.reading.replica.events.refresh.attempt()).toMatchObject({ ok: true })
      }
      fresh.directory.write('events', `[\n${versions.at(-1)?.join(',\n')}\n]`)
      expect(await fresh.marquee.reading.replica.events.refresh.attempt()).toMatchObject({ ok: true })
      expect(shown(reader.marquee)).toEqual(shown(fresh.marquee))
      await close()
    }),
    { numRuns: 120 },
  )
})
