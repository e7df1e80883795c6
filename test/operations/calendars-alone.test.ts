import { expect, it } from 'bun:test'
import { EVENT, LISTS } from '../contract/rows.ts'
import { eventually } from '../support/eventually.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import { serve } from '../support/marquee-process.ts'
import { askOperations } from '../support/operations-client.ts'

it('with calendars and without lists, no answer says that an event is in /api/events', async () => {
  const directory = new FilesDirectory({ operations: { port: 0 }, feeds: { calendar: 'on' } }, LISTS)
  const { child, listening } = await serve('bun', directory.configuration)
  const ask = async (path: string): Promise<string> =>
    (await askOperations(`${listening.operations ?? ''}${path}`))?.text ?? ''
  await eventually(
    () => ask('ready'),
    (text) => text === 'ready\n',
  )
  expect((await fetch(`${listening.address}api/events.ics`)).status).toBe(200)
  expect(await ask(`explain/${EVENT}`)).not.toContain('It is in /api/events')
  expect(await ask('status')).not.toContain('notYetOver')
  await child.stop()
  directory.remove()
})
