import { afterAll, beforeAll, describe, expect, it } from 'bun:test'
import { EVENT, LISTS } from '../contract/rows.ts'
import type { HostileRequest } from './hostile-requests.ts'
import { HOSTILE_REQUESTS, SMUGGLED } from './hostile-requests.ts'
import { RawConnection } from './raw-connection.ts'
import { Victim } from './victim.ts'
import { BOTH_RUNTIMES } from '../support/depth.ts'

const TARGET = `/api/events/${EVENT}`
/** What a run of all of them may leave behind: a heap that has grown to its working size. */
const RESIDENT_MB = 120

for (const runtime of BOTH_RUNTIMES) {
  describe(`requests that no good client sends, to ${runtime}`, () => {
    let victim: Victim
    let good: string
    let before: { descriptors: number; residentMb: number }
    beforeAll(async () => {
      victim = await Victim.start(runtime, {}, LISTS)
      good = (await victim.ask(TARGET)).body
      before = { descriptors: victim.descriptors, residentMb: victim.residentMb }
    })
    afterAll(async () => {
      expect(await victim.stop()).toBe(0)
    })

    for (const hostile of HOSTILE_REQUESTS) {
      it(`${hostile.name}: ${hostile.may.map((may) => may || 'hung up').join(' or ')}, and the next is answered`, async () => {
        const answer = await tell(victim.port, hostile)
        expect(hostile.may).toContain(statusesOf(answer))
        expect(answer).not.toContain(SMUGGLED)
        expect((await victim.ask(TARGET)).body).toBe(good)
      })
    }

    it('nothing is left of them: no descriptor, no memory', async () => {
      expect(good).toContain(EVENT)
      await victim.letGo(before.descriptors)
      expect(victim.residentMb).toBeLessThan(before.residentMb + RESIDENT_MB)
    })
  })
}

async function tell(port: number, { text, open }: HostileRequest): Promise<string> {
  const connection = (await RawConnection.open(port)).read()
  connection.send(text)
  const answer = await connection.until((received) => open === true && received.includes('\r\n\r\n'))
  connection.destroy()
  return answer
}

function statusesOf(answer: string): string {
  return [...answer.matchAll(/^HTTP\/1\.1 (\d{3}) /gm)].map(([, status]) => status).join(' ')
}
