import { afterAll, beforeAll, describe, expect, it } from 'bun:test'
import { GOLDEN, listsOf, shapeSuffix } from './golden-cases.ts'
import { accept, type Start, type Subject } from './subject.ts'

export function goldenSentences(start: Start): void {
  describe('the golden cases (contract §2, §3)', () => {
    for (const [timeZone, cases] of Map.groupBy(GOLDEN, (golden) => golden.timeZone)) {
      describe(`shown in ${timeZone}`, () => {
        let subject: Subject
        beforeAll(async () => {
          // Cases share ids, so the files are rewritten for each and every request waits for a new read.
          const settings = {
            timeZone,
            representation: { namespace: 'EventsApi' },
            freshness: { maxAge: 0, shrinkGuard: 'off' },
          }
          subject = await start(settings, { events: '[]', venues: '[]' })
        })
        afterAll(() => subject.stop())

        for (const golden of cases) {
          it(`${golden.name}: ${golden.note}`, async () => {
            const { events, venues } = listsOf(golden)
            subject.directory.write('events', events)
            subject.directory.write('venues', venues)
            for (const [type, suffix] of shapeSuffix) {
              const reply = await subject.ask(`/api/${golden.kind}s/${golden.id}`, accept(type))
              expect([reply.status, reply.headers.get('content-type')]).toEqual([200, `${type}; charset=utf-8`])
              expect(reply.body).toBe(golden.bodies[suffix].toString('utf8'))
              expect(reply.bytes.equals(golden.bodies[suffix])).toBe(true)
            }
          })
        }
      })
    }
  })
}
