import { afterAll, beforeAll, describe, expect, it } from 'bun:test'
import type { Reply } from '../support/reply.ts'
import { EVENT, EVENT_ROW, LISTS } from './rows.ts'
import { accept, type Start, type Subject } from './subject.ts'

const SHAPES = ['application/json', 'application/xml', 'application/hal+json', 'application/hal+xml']

/** A maximum age of 0 makes every request wait for a new read, so answers always show the present file. */
const AT_ONCE = { freshness: { maxAge: 0, shrinkGuard: 'off' } }

export function etagSentences(start: Start): void {
  describe('ETags (contract §1.3)', () => {
    let subject: Subject
    beforeAll(async () => {
      subject = await start(AT_ONCE, LISTS)
    })
    afterAll(() => subject.stop())

    async function shapes(from: Subject): Promise<Reply[]> {
      const replies: Reply[] = []
      for (const type of SHAPES) replies.push(await from.ask(`/api/events/${EVENT}`, accept(type)))
      return replies
    }
    const tagsOf = (replies: readonly Reply[]): (string | undefined)[] =>
      replies.map(({ headers }) => headers.get('etag'))
    const put = (change: object): void =>
      subject.directory.write('events', JSON.stringify([{ ...EVENT_ROW, ...change }]))

    it('are the same in another process, and after a restart', async () => {
      const before = await shapes(subject)
      const other = await start({}, LISTS)
      const after = await shapes(other)
      await other.stop()
      expect(after.map(({ body }) => body)).toEqual(before.map(({ body }) => body))
      expect(tagsOf(after)).toEqual(tagsOf(before))
    })

    it('change with the bytes, and return with them', async () => {
      put({})
      const before = await shapes(subject)
      put({ Name: 'Annual Lunch' })
      const changed = await shapes(subject)
      for (const [index, tag] of tagsOf(changed).entries()) expect(tag).not.toBe(tagsOf(before)[index])
      put({})
      expect(tagsOf(await shapes(subject))).toEqual(tagsOf(before))
    })

    it('stay the same if the bytes do: HAL XML shows no Tags', async () => {
      put({ Tags: ['Dinner'] })
      const [json, xml, halJson, halXml] = tagsOf(await shapes(subject))
      put({ Tags: ['Dinner', 'Sold out'] })
      const [jsonNow, xmlNow, halJsonNow, halXmlNow] = tagsOf(await shapes(subject))
      expect(halXmlNow).toBe(halXml ?? '')
      expect([jsonNow, xmlNow, halJsonNow].map((tag, index) => tag === [json, xml, halJson][index])).toEqual([
        false,
        false,
        false,
      ])
    })

    it('do not depend on the spelling of the row', async () => {
      put({ Id: EVENT.toUpperCase(), Price: '12.50', Start: '2036-07-12T18:30:00Z' })
      const one = tagsOf(await shapes(subject))
      put({ Id: `{${EVENT}}`, Price: ' +012.50 ', Start: '2036-07-12 20:30:00.000+02:00' })
      expect(tagsOf(await shapes(subject))).toEqual(one)
    })
  })
}
