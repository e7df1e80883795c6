/**
 * A program: the service as `serve` puts it together, in front of a stand-in CRM. A second listener tells how the CRM
 * does and takes orders. `{"settings": …, "limits": …, "patienceMs": …}` is its argument; it ends with SIGKILL.
 */
import { ListMaker } from '../../src/records/row-records.ts'
import { Service } from '../../src/http/service.ts'
import type { WaitingLimits } from '../../src/sync/served-list.ts'
import { Admissions } from '../../src/sync/served-list.ts'
import type { RefreshSettings } from '../../src/sync/served-list.ts'
import { Replica } from '../../src/sync/replica.ts'
import { systemTime } from '../../src/time/time.ts'
import { addressOf } from '../../src/runtime/listener.ts'
import { formatter } from '../model/records.ts'
import type { Mood } from './stand-in-crm.ts'
import { StandInCrm } from './stand-in-crm.ts'

export interface StandInSettings {
  readonly freshness: RefreshSettings
  readonly limits: WaitingLimits
  readonly idleMs: number
  readonly patienceMs: number
}

export interface StandInReport {
  readonly reads: number
  readonly mostReadsAtOnce: number
  /** The most requests that waited at once. */
  readonly mostWaiting: number
  readonly internalErrors: number
}

const { freshness, limits, idleMs, patienceMs } = JSON.parse(process.argv[2] ?? '') as StandInSettings
const crm = new StandInCrm(patienceMs)
let internalErrors = 0
const replica = new Replica({
  crm,
  lists: new ListMaker(formatter).make(),
  settings: () => freshness,
  limits: () => ({ memoryBytes: 1e9 }),
  time: systemTime,
  observe: () => {},
  pause: () => new Promise((resolve) => setImmediate(resolve)),
})
const admissions = new Admissions(
  () => freshness,
  () => limits,
  systemTime,
)
const service = new Service({
  served: () => replica,
  admissions,
  time: systemTime,
  basePath: '/',
  maxAgeMs: freshness.maxAgeMs,
  conditionalRequests: false,
  onInternalError: () => internalErrors++,
})
let mostWaiting = 0
// Whoever begins to wait later is given up later than this looks, however long the process was held up.
setInterval(() => (mostWaiting = Math.max(mostWaiting, admissions.waiting)), 10)
const runtime =
  'Bun' in globalThis ? await import('../../src/runtime/bun.ts') : await import('../../src/runtime/node.ts')
const place = { host: '127.0.0.1', port: 0 }
const listener = await runtime.listen({ ...place, idleMs, answer: (call) => service.answer(call) })
const control = await runtime.listenFetch({
  ...place,
  fetch(request) {
    const { pathname, searchParams } = new URL(request.url)
    if (pathname === '/mood') {
      crm.mood = (searchParams.get('is') ?? '') as Mood
      crm.name = searchParams.get('name') ?? crm.name
    }
    if (pathname === '/release') crm.release()
    const { reads, mostReadsAtOnce } = crm
    return Response.json({
      reads,
      mostReadsAtOnce,
      mostWaiting,
      internalErrors,
    } satisfies StandInReport)
  },
})
replica.start()
console.log(
  JSON.stringify({ event: 'listening', address: `${addressOf(listener)}/`, operations: addressOf(control), try: null }),
)
