import { describe, expect, it } from 'bun:test'
import { requestText } from '../contract/over-http.ts'
import { guidOf } from '../model/records.ts'
import { eventually } from '../support/eventually.ts'
import { startKubernetesFront } from '../cluster/nginx.ts'
import type { Runtime } from '../support/child.ts'
import { askHonestly } from './honest-caller.ts'
import { ODD_EVENT, ODD_REQUESTS, ODD_VENUE, OTHER_METHODS } from './odd-requests.ts'
import { exchangeWith, HAS_NGINX, HAS_VARNISH, type Proxy, startNginx, startVarnish } from './proxies.ts'
import { Victim } from './victim.ts'
import { RUNTIMES } from '../support/depth.ts'

const EVENTS = 400
/** Who asks twenty times a second, each time for what no cache has. */
const HONEST = { everyMs: 50, localAddress: '127.0.0.2' }
const HASTE_MS = 250
const ODD_EVERY_MS = 25

const TIMES = { Start: '2036-07-12T19:30:00Z', Finish: '2036-07-12T23:00:00Z' }
const EVENT_ROWS = JSON.stringify(
  Array.from({ length: EVENTS }, (_, index) => {
    const text = { Id: guidOf(index + 1), Name: `Event ${index}`, VenueId: ODD_VENUE, Tags: ['all'] }
    return { ...text, ...TIMES, ShowOnWeb: true }
  }),
)
const VENUE_ROWS = JSON.stringify([{ Id: ODD_VENUE, Name: 'Guildhall' }])

/** What comes back within a moment; then the connection is closed, whatever was not said. */
async function sendOdd(origin: string, text: string): Promise<string> {
  const moment = new Promise<string>((resolve) => setTimeout(() => resolve(''), HASTE_MS))
  const answered = exchangeWith(origin, text).then((bytes) => bytes.toString('latin1'))
  return Promise.race([answered.catch(() => ''), moment])
}

/** Each kind twice, at a steady pace. */
async function attack(origin: string): Promise<void> {
  const sent: Promise<string>[] = []
  for (const { text } of [...ODD_REQUESTS, ...ODD_REQUESTS.toReversed()]) {
    sent.push(sendOdd(origin, text))
    await new Promise((resolve) => setTimeout(resolve, ODD_EVERY_MS))
  }
  await Promise.all(sent)
}

type StartProxy = (ports: readonly number[]) => Promise<Proxy>

const PROXIES: readonly (readonly [file: string, isThere: boolean, start: StartProxy])[] = [
  ['nginx/marquee.conf', HAS_NGINX, startNginx],
  ['kubernetes/marquee.yaml', HAS_NGINX, startKubernetesFront],
  ['varnish/marquee.vcl', HAS_VARNISH, startVarnish],
]

for (const [file, isThere, start] of PROXIES) {
  describe.skipIf(!isThere)(`behind deploy/${file}, two instances`, () => {
    it('no request of one caller costs another one an answer, and other methods end at the proxy', async () => {
      await Promise.all(RUNTIMES.map((runtime) => attackTwo(file, runtime, start)))
    })
  })
}

async function attackTwo(file: string, runtime: Runtime, start: StartProxy): Promise<void> {
  const lists = { events: EVENT_ROWS, venues: VENUE_ROWS }
  const victims = await Promise.all([0, 1].map(() => Victim.start(runtime, { lists: 'on' }, lists)))
  const proxy = await start(victims.map(({ port }) => port))
  const honest = askHonestly(proxy.origin, (turn) => `/api/events/${guidOf(2 + (turn % (EVENTS - 2)))}`, HONEST)
  try {
    await attack(proxy.origin)
    await eventually(
      async () => honest.asked,
      (count) => count > 60,
    )
    for (const method of OTHER_METHODS) {
      for (const target of [`/api/events/${ODD_EVENT}`, '/api/events', '/', '/nothing']) {
        const answer = (await exchangeWith(proxy.origin, requestText(target, { method }))).toString('latin1')
        expect([method, target, answer.slice(0, 13)]).toEqual([method, target, 'HTTP/1.1 405 '])
        expect(answer).toMatch(/^allow: GET, HEAD, OPTIONS\r$/im)
        expect(answer).toMatch(/^content-type: application\/problem\+json\r$/im)
        const problem: unknown = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))
        const detail: unknown = expect.stringContaining('GET or HEAD')
        expect(problem).toEqual({ type: 'about:blank', title: 'Method Not Allowed', status: 405, detail })
      }
    }
  } finally {
    const { asked, failures, longestMs } = await honest.end()
    await proxy.stop()
    for (const victim of victims) await victim.stop()
    const counts = `${ODD_REQUESTS.length} kinds of odd requests; ${asked} honest ones, the longest ${Math.round(longestMs)} ms`
    console.log(`${file}, ${runtime}: ${counts}, ${failures.length} failed`)
    expect(failures.slice(0, 3)).toEqual([])
    // nginx tells whatever it counts against an instance; lines on callers beyond a limit name one, too.
    expect(/^(?!.*\blimiting requests\b).*\bupstream\b.*$/m.exec(proxy.log())?.[0] ?? '').toBe('')
  }
}
