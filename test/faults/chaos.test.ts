import { Buffer } from 'node:buffer'
import { describe, expect, it } from 'bun:test'
import { SaxesParser } from 'saxes'
import { loadConfiguration } from '../../src/config/read-configuration.ts'
import { renderProblem } from '../../src/config/config-problem.ts'
import { EVENT, LISTS, VENUE } from '../contract/rows.ts'
import { startInProcess } from '../contract/in-process.ts'
import { Chance } from '../model/chance.ts'
import { guidOf } from '../model/records.ts'
import { eventually } from '../support/eventually.ts'
import { chaoticConfiguration, chaoticRequest, chaoticRows } from './chaos.ts'
import { RawConnection } from './raw-connection.ts'
import { Victim } from './victim.ts'
import { RUNTIMES, faultSeconds, SEED, limitAfter } from '../support/depth.ts'

const SECONDS = faultSeconds(2, 4)

/** What Bun's parser says to a request line that it cannot read; the service is not asked. */
const UNREADABLE = '505'
const EVENT_COLUMNS = [
  'Id',
  'Name',
  'VenueId',
  'TicketCapacity',
  'TicketsAvailable',
  'Start',
  'Finish',
  'Price',
  'Tags',
  'Links',
  'Active',
  'ShowOnWeb',
  '__proto__',
]
const VENUE_COLUMNS = [
  'Name',
  'AddressCity',
  'Longitude',
  'Latitude',
  'Description',
  'Website',
  'Links',
  'Active',
  'toString',
]
const ACCEPTS = ['application/json', 'application/xml', 'application/hal+json', 'application/hal+xml'] as const

describe(`chaos, seed ${SEED}`, () => {
  it(
    'no request causes a 5xx, on both runtimes',
    async () => {
      const counts = await Promise.all(
        RUNTIMES.map(async (runtime) => {
          const victim = await Victim.start(runtime, {}, LISTS)
          const good = (await victim.ask(`/api/events/${EVENT}`)).body
          const chance = new Chance(SEED)
          const until = performance.now() + SECONDS * 1000
          let tried = 0
          const workers = Array.from({ length: 8 }, async () => {
            while (performance.now() < until) {
              const text = chaoticRequest(chance)
              tried++
              const connection = (await RawConnection.open(victim.port)).read()
              connection.send(text)
              // What waits for more of its body gets no more.
              connection.socket.end()
              const answer = await connection.until(() => false)
              const status = /^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? ''
              if (status.startsWith('5') && !(runtime === 'bun' && status === UNREADABLE)) {
                throw new Error(
                  `${runtime}, seed ${SEED}: ${JSON.stringify(text.slice(0, 500))} got ${answer.slice(0, 500)}`,
                )
              }
            }
          })
          await Promise.all(workers)
          expect((await victim.ask(`/api/events/${EVENT}`)).body).toBe(good)
          expect(victim.process.child.stdout).not.toContain('internal')
          expect(await victim.stop()).toBe(0)
          return `${runtime} ${tried}`
        }),
      )
      console.log(`chaos, seed ${SEED}: requests tried: ${counts.join(', ')}`)
    },
    limitAfter(SECONDS * 1000),
  )

  it(
    'no row causes a 5xx, breaks an answer, or takes its neighbours down',
    async () => {
      const chance = new Chance(SEED)
      const until = performance.now() + SECONDS * 1000
      const ids = Array.from({ length: 20 }, (_, index) => guidOf(index + 1))
      const subject = await startInProcess({ freshness: { maxAge: 0, refreshEvery: '1h' } }, LISTS)
      let tried = 0
      while (performance.now() < until) {
        const sane = {
          Id: EVENT,
          Name: `round ${tried}`,
          Start: '2036-07-12T19:30:00Z',
          Finish: '2036-07-12T23:00:00Z',
          ShowOnWeb: true,
        }
        const events = JSON.parse(chaoticRows(chance, ids, EVENT_COLUMNS)) as unknown[]
        subject.directory.write('events', JSON.stringify([...events, sane]))
        const venues = JSON.parse(chaoticRows(chance, ids, VENUE_COLUMNS)) as unknown[]
        subject.directory.write('venues', JSON.stringify([...venues, { Id: VENUE, Name: 'y' }]))
        for (const id of ids) {
          tried++
          const accept = chance.pick(ACCEPTS)
          for (const target of [`/api/events/${id}`, `/api/events/${id}/venue`, `/api/venues/${id}`]) {
            const reply = await subject.ask(target, { headers: [['Accept', accept]] })
            if (![200, 404].includes(reply.status))
              throw new Error(`seed ${SEED}: ${target} ${reply.status} ${reply.body}`)
            if (accept.endsWith('json')) JSON.parse(reply.body)
            else expectWellFormed(reply.body)
          }
        }
        const reply = await eventually(
          () => subject.ask(`/api/events/${EVENT}`),
          ({ status }) => status === 200,
        )
        expect(reply.body).toContain('"Name":"round ')
      }
      await subject.stop()
      console.log(`chaos, seed ${SEED}: ${tried} rows of each list tried`)
    },
    limitAfter(SECONDS * 1000),
  )

  it(
    'no configuration causes anything but problems, each a sentence',
    async () => {
      const chance = new Chance(SEED)
      const until = performance.now() + (SECONDS * 1000) / 4
      let [tried, good] = [0, 0]
      while (performance.now() < until) {
        const text = chaoticConfiguration(chance)
        tried++
        const loaded = await loadConfiguration({
          path: 'marquee.yaml',
          text,
          env: { PATH: '/bin' },
          readFile: async () => Buffer.from('text'),
        }).catch((cause: unknown) => {
          throw new Error(`seed ${SEED}: ${JSON.stringify(text)}`, { cause })
        })
        if (loaded.ok) good++
        else {
          expect(loaded.problems.length).toBeGreaterThan(0)
          for (const problem of loaded.problems) expect(renderProblem(problem)).not.toMatch(/\n|\[object|undefined/)
        }
      }
      console.log(`chaos, seed ${SEED}: ${tried} configurations tried, ${good} of them right`)
    },
    limitAfter(SECONDS * 1000),
  )
})

/** By a parser that is not ours. */
function expectWellFormed(xml: string): void {
  const parser = new SaxesParser({ xmlns: true })
  parser.on('error', (cause) => {
    throw new Error(`not well-formed: ${xml}`, { cause })
  })
  parser.write(xml).close()
}
