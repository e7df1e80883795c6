import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readCrm } from '../../src/app/assemble.ts'
import { loadConfiguration } from '../../src/config/read-configuration.ts'
import { type Runtime, Child, programOf, ROOT } from '../../test/support/child.ts'
import { eventually } from '../../test/support/eventually.ts'
import { freePort } from '../../test/support/free-port.ts'
import { mainThreadMs } from '../../test/support/processor-time.ts'
import type { Lists } from '../lists/data.ts'
import { peakRssBytes, usageOf } from '../machine/process-tree.ts'
import { scaled } from '../measure/scale.ts'
import type { Section } from '../part.ts'
import { figureOf, RUNTIME_NAMES, RUNTIMES, show } from '../report/figure.ts'
import { megabytes, table } from '../report/table.ts'
import { SOURCE } from '../servers/marquee.ts'
import { eventUrl, untilServing } from '../servers/server.ts'
import type { Workshop } from '../workshop.ts'

const ROWS = scaled(50_000, 2000)
const PAGE = 500
const IDLE_SECONDS = scaled(60, 6)
const PARSES = scaled(5, 1)

const MOST_SECONDS = 6
const MOST_BYTES = 100e6
const MOST_TURN_MS = 20
const MOST_IDLE_SHARE = 0.01

const TEXT = `
A user's own connector (\`crm.kind: module\`) reads ${ROWS} events and a tenth as many venues from a server on the same machine, in pages of
${PAGE}; no process is bound to a core. "Memory" is the peak of Marquee's own process, minus that of the same service with one event, minus the
memory of the records by its own count. Processor time counts from the start of the process until both lists have been read. A turn is the processor
time of Marquee's main thread between a request and its answer; requests follow one another without a pause while the connector parses 50 MB of JSON at once.
"Idle" is the share of a core over ${IDLE_SECONDS} s, with a refresh every 5 s that finds no change.
`.trim()

const MODULE = `
const page = (name) => ({ http, settings }) =>
  http.pages(\`\${settings.url}/\${name}\`, { by: 'page', size: ${PAGE}, query: { page: '{page}', size: '{size}' }, rows: 'data' })
const changes = async function* ({ http, settings }) {
  const { parse } = await http.get(\`\${settings.url}/changes\`)
  if (parse) JSON.parse('[' + '{"a":"bcdefgh","n":[1,2,3]},'.repeat(1_900_000) + '1]')
  return 'now'
}
const same = (names) => Object.fromEntries(names.map((name) => [name, name]))
export default {
  api: 1,
  settings: { url: 'url' },
  events: { full: page('events'), changes, fields: same(['Id', 'Name', 'VenueId', 'TicketCapacity', 'TicketsAvailable', 'Start', 'Finish', 'Price', 'Tags']) },
  venues: { full: page('venues'), async *changes() { return 'now' }, fields: same(['Id', 'Name', 'AddressStreet1', 'AddressCity', 'Longitude', 'Latitude']) },
}
`

interface Result {
  readonly runtime: Runtime
  readonly seconds: number
  /** The processor time of the start and the read. */
  readonly work: Worked
  readonly peakBytes: number
  readonly turnMs: number
  readonly idle: Worked
}

/** Seconds of processor time, or shares of a core. */
interface Worked {
  readonly parent: number
  readonly child: number
}

/** Measures what a user's own connector costs the service. */
export async function connector(workshop: Workshop): Promise<Section> {
  const lists = workshop.lists(ROWS)
  const recordBytes = await sizeOf(lists)
  const results: Result[] = []
  for (const runtime of RUNTIMES) {
    const { child: empty } = await startService(workshop, runtime, workshop.lists(1))
    const emptyBytes = peakRssBytes(empty.pid)
    await workshop.tidy()
    results.push(await measure(workshop, runtime, lists, emptyBytes + recordBytes))
    await workshop.tidy()
  }
  const rows = results.map(({ runtime, seconds, work, peakBytes, turnMs, idle: { parent, child } }) => [
    RUNTIME_NAMES[runtime],
    show(seconds),
    show(work.parent),
    show(work.child),
    megabytes(peakBytes),
    show(turnMs),
    `${show(parent * 100)} %`,
    `${show(child * 100)} %`,
  ])
  const head = [
    'runtime',
    'full read s',
    'Marquee’s processor s',
    'the connector’s',
    'memory MB',
    'longest turn ms',
    'idle, Marquee',
    'idle, connector',
  ]
  const of = (value: (result: Result) => number, ceiling: number) => (runtime: Runtime) => {
    const result = results.find((one) => one.runtime === runtime)
    return { value: result === undefined ? null : value(result), ceiling }
  }
  const read = `${ROWS} rows by a connector of your own`
  return {
    title: 'A connector of your own',
    markdown: `${TEXT}\n\n${table(head, rows)}`,
    figures: [
      figureOf(
        `full read of ${read}`,
        `≤ ${MOST_SECONDS} s`,
        ' s',
        of(({ seconds }) => seconds, MOST_SECONDS),
      ),
      figureOf(
        `memory of Marquee for ${read}, beyond the records`,
        `≤ ${MOST_BYTES / 1e6} MB`,
        ' MB',
        of(({ peakBytes }) => peakBytes / 1e6, MOST_BYTES / 1e6),
      ),
      figureOf(
        'longest turn while a connector parses 50 MB at once',
        `≤ ${MOST_TURN_MS} ms`,
        ' ms',
        of(({ turnMs }) => turnMs, MOST_TURN_MS),
      ),
      figureOf(
        'idle refreshes of a connector of your own, the busier of both processes',
        `≤ ${MOST_IDLE_SHARE * 100} % of a core`,
        ' %',
        of(({ idle }) => Math.max(idle.parent, idle.child) * 100, MOST_IDLE_SHARE * 100),
      ),
    ],
  }
}

interface Service {
  readonly child: Child
  readonly port: number
  readonly api: string
}

async function startService(workshop: Workshop, runtime: Runtime, { directory, lastId }: Lists): Promise<Service> {
  const server = workshop.keep(new Child(programOf('bun'), [join(ROOT, 'bench/servers/apps/api.ts'), directory]))
  const api = `http://127.0.0.1:${await server.line((line) => /^\d+$/.test(line))}`
  const folder = workshop.folder()
  writeFileSync(join(folder, 'our-crm.mjs'), MODULE, { mode: 0o644 })
  const port = await freePort()
  const crm = { kind: 'module', path: './our-crm.mjs', settings: { url: api } }
  const configuration = { listen: { port }, operations: null, snapshot: null, crm }
  writeFileSync(join(folder, 'marquee.yaml'), JSON.stringify(configuration))
  const args = [...SOURCE, 'serve', '--config', join(folder, 'marquee.yaml')]
  const child = workshop.keep(new Child(programOf(runtime), args))
  await untilServing(`Marquee on ${RUNTIME_NAMES[runtime]}`, child, port, lastId)
  return { child, port, api }
}

async function measure(workshop: Workshop, runtime: Runtime, lists: Lists, baseBytes: number): Promise<Result> {
  const { child, port, api } = await startService(workshop, runtime, lists)
  const { pid } = child
  const told = await child.line((line) => /"list":"events","read":"full"/.test(line))
  const { durationMs } = JSON.parse(told ?? '{}') as { readonly durationMs: number }
  const peakBytes = peakRssBytes(pid) - baseBytes
  const work = worked(pid)
  await Bun.sleep(scaled(10_000, 1000))
  const idle = await idleShares(pid)
  let turnMs = 0
  for (let parse = 0; parse < PARSES; parse++)
    turnMs = Math.max(turnMs, await longestTurn(pid, eventUrl(port, lists.lastId), api))
  return { runtime, seconds: durationMs / 1000, work, peakBytes, turnMs, idle }
}

/** The shares of a core that Marquee and its connector take. */
async function idleShares(pid: number): Promise<Worked> {
  const before = worked(pid)
  await Bun.sleep(IDLE_SECONDS * 1000)
  const after = worked(pid)
  return {
    parent: (after.parent - before.parent) / IDLE_SECONDS,
    child: (after.child - before.child) / IDLE_SECONDS,
  }
}

/** The processor time so far of Marquee and of its connector, in seconds. */
function worked(pid: number): Worked {
  const [connectorPid] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
  const child = usageOf(Number(connectorPid)).cpuUs / 1e6
  return { parent: usageOf(pid).cpuUs / 1e6 - child, child }
}

/** The longest turn of Marquee's main thread while its connector parses 50 MB at once. */
async function longestTurn(pid: number, url: string, api: string): Promise<number> {
  const askedOf = async (): Promise<number> =>
    ((await (await fetch(`${api}/asked`)).json()) as { readonly asked: number }).asked
  const before = await askedOf()
  await fetch(`${api}/parse`, { method: 'POST' })
  let longestMs = 0
  const load = { isOver: false }
  const asking = async (): Promise<void> => {
    while (!load.isOver) {
      const begunMs = mainThreadMs(pid)
      await (await fetch(url)).arrayBuffer()
      longestMs = Math.max(longestMs, mainThreadMs(pid) - begunMs)
    }
  }
  const asked = asking()
  // The question after the parse comes once it is over.
  await eventually(askedOf, (now) => now >= before + 2, 60_000)
  load.isOver = true
  await asked
  return longestMs
}

/** What the records of both lists take in memory, by Marquee's own count. */
async function sizeOf({ directory }: Lists): Promise<number> {
  const text = JSON.stringify({ crm: { kind: 'files', directory } })
  const readFile = (): Promise<never> => Promise.reject(new Error('no file is read'))
  const loaded = await loadConfiguration({ path: join(directory, 'marquee.yaml'), text, env: {}, readFile })
  if (!loaded.ok) throw new Error('the configuration of the lists is wrong')
  const { lists } = await readCrm(loaded.configuration)
  return lists.events.list.sizeBytes + lists.venues.list.sizeBytes
}
