import { describe, expect, it } from 'bun:test'
import type { Reply } from '../support/reply.ts'
import * as rows from './rows.ts'
import { accept, type Subject } from './subject.ts'

const { NEVER } = rows

/** Returns the whole response without its date as one text, with the requested id replaced. */
function whole({ head, body }: Reply, id: string): string {
  return `${head.replace(/\r\ndate: [^\r]*/i, '')}\r\n\r\n${body}`.replaceAll(id, '{id}')
}

export function withheldSentences(subject: () => Subject): void {
  describe('withheld records (contract §1)', () => {
    const pairs = [
      ['/api/events/{id}', rows.DRAFT, 'an event not shown on the web'],
      ['/api/events/{id}', rows.CANCELLED, 'an inactive event'],
      ['/api/events/{id}/venue', rows.DRAFT, 'the venue of an event not shown on the web'],
      ['/api/events/{id}/venue', rows.CANCELLED, 'the venue of an inactive event'],
      ['/api/venues/{id}', rows.CLOSED_VENUE, 'an inactive venue'],
    ] as const

    for (const [path, id, what] of pairs) {
      it(`are indistinguishable from missing ones, byte for byte: ${what}`, async () => {
        for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST']) {
          for (const type of ['application/json', 'application/hal+xml']) {
            const withheld = await subject().ask(path.replace('{id}', id), { method, ...accept(type) })
            const never = await subject().ask(path.replace('{id}', NEVER), { method, ...accept(type) })
            expect(whole(withheld, id)).toBe(whole(never, NEVER))
          }
        }
      })
    }

    it('are indistinguishable through the event too: a closed venue from an unknown one', async () => {
      const [closed, unknown] = [rows.AT_CLOSED_VENUE, rows.AT_UNKNOWN_VENUE]
      const withheld = await subject().ask(`/api/events/${closed}/venue`)
      const never = await subject().ask(`/api/events/${unknown}/venue`)
      expect(whole(withheld, closed)).toBe(whole(never, unknown))
    })

    it('are not revealed by conditional or ranged requests', async () => {
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
