import { describe, expect, it } from 'bun:test'
import type { Reply } from '../support/reply.ts'
import * as rows from './rows.ts'
import { accept, type Subject } from './subject.ts'

const { NEVER } = rows

/** The whole response but its date, as one text; the id that was asked for replaced. */
function whole({ head, body }: Reply, id: string): string {
  return `${head.replace(/\r\ndate: [^\r]*/i, '')}\r\n\r\n${body}`.replaceAll(id, '{id}')
}

export function withheldSentences(subject: () => Subject): void {
  describe('what is withheld (contract §1)', () => {
    const pairs = [
      ['/api/events/{id}', rows.DRAFT, 'an event not shown on the web'],
      ['/api/events/{id}', rows.CANCELLED, 'an inactive event'],
      ['/api/events/{id}/venue', rows.DRAFT, 'the venue of an event not shown on the web'],
      ['/api/events/{id}/venue', rows.CANCELLED, 'the venue of an inactive event'],
      ['/api/venues/{id}', rows.CLOSED_VENUE, 'an inactive venue'],
    ] as const

    for (const [path, id, what] of pairs) {
      it(`cannot be told from what never existed, byte for byte: ${what}`, async () => {
        for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST']) {
          for (const type of ['application/json', 'application/hal+xml']) {
            const withheld = await subject().ask(path.replace('{id}', id), { method, ...accept(type) })
            const never = await subject().ask(path.replace('{id}', NEVER), { method, ...accept(type) })
            expect(whole(withheld, id)).toBe(whole(never, NEVER))
          }
        }
      })
    }

    it('cannot be told through the event either: a closed venue from one that never was', async () => {
      const [closed, unknown] = [rows.AT_CLOSED_VENUE, rows.AT_UNKNOWN_VENUE]
      const withheld = await subject().ask(`/api/events/${closed}/venue`)
      const never = await subject().ask(`/api/events/${unknown}/venue`)
      expect(whole(withheld, closed)).toBe(whole(never, unknown))
    })

    it('is not asked for by conditional or ranged requests either', async () => {
      const headers = [
        ['If-None-Match', '*'],
        ['Range', 'bytes=0-0'],
      ] as const
      const withheld = await subject().ask(`/api/events/${rows.DRAFT}`, { headers })
      const never = await subject().ask(`/api/events/${NEVER}`, { headers })
      expect(whole(withheld, rows.DRAFT)).toBe(whole(never, NEVER))
    })
  })
}
