import { afterAll, expect, it } from 'bun:test'
import { textOf } from '../../src/domain/body.ts'
import { guidOf } from '../model/records.ts'
import { EVENT_ROW } from '../contract/rows.ts'
import { assembledFrom } from '../contract/in-process.ts'
import { FilesDirectory } from '../support/files-directory.ts'

// More bytes than all bodies that are kept ready: 72 MB.
const EVENTS = 1200
const NAME = 'x'.repeat(60_000)

const ids = Array.from({ length: EVENTS }, (_, index) => guidOf(index + 1))
const rows = ids.map((Id, index) => JSON.stringify({ ...EVENT_ROW, Id, Name: index % 2 === 0 ? NAME : `${NAME}é` }))
const directory = new FilesDirectory(
  { freshness: { maxAge: 0 }, limits: { waiting: EVENTS, waitFor: '60s' } },
  { events: `[${rows.join(',\n')}]`, venues: '[]' },
)
afterAll(() => directory.remove())

it('requests that waited for the same refresh get each its own record, however many there are', async () => {
  const { replica, crm, service } = await assembledFrom(directory.configuration)
  const answers = await Promise.all(
    ids.map(async (id) => {
      const target = `/api/events/${id}`
      return service.answer({ method: 'GET', target, pathname: target, header: () => null })
    }),
  )
  for (const [index, { status, body }] of answers.entries()) {
    expect(status).toBe(200)
    expect(textOf(body ?? '')).toStartWith(`{"Id":"${ids[index]}","Name":"x`)
  }
  await replica.stop()
  await crm.close()
})
