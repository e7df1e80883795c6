import { type Lists, writeLists } from './lists.ts'
import { type Round, UNKNOWN_SHARE, Wrk } from './load.ts'
import { RUNTIMES } from './machine.ts'
import { checkAnswers, type Server, startFloor, startFrameworks, startMarquee, startStores } from './contestants.ts'
import { median, megabytes, ratios, show, spread, type Table } from './report.ts'
import type { Scale, Workshop } from './workshop.ts'

/** How far the share of refused requests may differ from that of unknown ids. */
const TOLERANCE = 0.01

/** Lists, pages of the next events with their venues, and calendars. */
const LISTS = [
  '/api/events?limit=50',
  '/api/events?limit=50&include=venue',
  '/api/venues?limit=50',
  '/api/events?tag=Free',
]

/** What a request costs, beside other servers of the same bytes. */
export async function serve(workshop: Workshop, { sizes, rounds, seconds }: Scale): Promise<readonly Table[]> {
  const [small, large] = sizes
  const tables = [await compare(small, true), await compare(large, false)]
  return [...tables, await lists(small)]

  async function compare(events: number, hasFrameworks: boolean): Promise<Table> {
    const data = writeLists(workshop.folder(), events)
    const servers: Server[] = []
    for (const runtime of RUNTIMES) servers.push(await startFloor(workshop, runtime, data))
    const marquees: Server[] = []
    for (const runtime of RUNTIMES)
      marquees.push(await startMarquee(workshop, runtime, data.lastId, configurationOf(data)))
    const [original] = marquees
    if (original === undefined) throw new Error('no Marquee was started')
    servers.push(...marquees, ...(await startStores(workshop, data, original)))
    if (hasFrameworks) servers.push(...(await startFrameworks(workshop, data)))
    for (const server of servers) if (!server.name.startsWith('constant')) await checkAnswers(server, data.ids)
    const measured = await interleave(servers, new Wrk(workshop.folder(), data.idsFile))
    await workshop.tidy()
    return tableOf(`${events} events`, measured)
  }

  async function lists(events: number): Promise<Table> {
    const data = writeLists(workshop.folder(), events)
    const servers: Server[] = []
    for (const runtime of RUNTIMES)
      servers.push(await startMarquee(workshop, runtime, data.lastId, configurationOf(data)))
    const measured = await interleave(servers, new Wrk(workshop.folder(), data.idsFile, LISTS))
    await workshop.tidy()
    const rows = [...measured].map(([{ name }, of]) => [name, spread(of.map((round) => round.cpuUsPerRequest))])
    return { title: `Pages of lists of ${events} events`, head: ['server', 'CPU µs a page'], rows }
  }

  /**
   * Measures all servers in turn, round after round, so that a machine that slows down affects all alike. The first
   * round, in which they compile and fill caches, does not count.
   */
  async function interleave(servers: readonly Server[], wrk: Wrk): Promise<ReadonlyMap<Server, readonly Round[]>> {
    const measured = new Map<Server, Round[]>(servers.map((server) => [server, []]))
    for (let round = 0; round <= rounds; round++) {
      for (const [server, of] of measured) {
        const one = await wrk.round(server, seconds)
        if (round > 0) of.push(one)
      }
    }
    return measured
  }
}

function configurationOf({ directory }: Lists): Readonly<Record<string, unknown>> {
  return { crm: { kind: 'files', directory } }
}

function tableOf(title: string, measured: ReadonlyMap<Server, readonly Round[]>): Table {
  const cpu = (rounds: readonly Round[]): number[] => rounds.map((round) => round.cpuUsPerRequest)
  const marquee = [...measured].find(([{ name }]) => name === 'Marquee on Bun')?.[1] ?? []
  const head = ['server', 'CPU µs a request', 'Marquee on Bun takes', 'requests/s', 'p99.9 ms', 'memory MB']
  const rows = [...measured].map(([{ name }, rounds]) => {
    requireComparable(name, rounds)
    const middle = (pick: (round: Round) => number): number => median(rounds.map(pick))
    return [
      name,
      spread(cpu(rounds)),
      rounds === marquee ? '' : `${spread(ratios(cpu(marquee), cpu(rounds)))} ×`,
      middle((round) => round.perSecond).toFixed(0),
      show(middle((round) => round.p999Ms)),
      megabytes(middle((round) => round.rssBytes)),
    ]
  })
  return { title, head, rows }
}

/** Throws if a server failed, or refused more or less than the unknown ids: its figures would not be comparable. */
function requireComparable(name: string, rounds: readonly Round[]): void {
  const sum = (pick: (round: Round) => number): number => rounds.reduce((total, round) => total + pick(round), 0)
  const refused = sum((round) => round.refused) / sum((round) => round.requests)
  const wanted = name.startsWith('constant') ? 0 : UNKNOWN_SHARE
  if (Math.abs(refused - wanted) > TOLERANCE || sum((round) => round.errors) > 0) {
    throw new Error(`${name} refused ${(refused * 100).toFixed(1)} % of the requests; ${wanted * 100} % were expected`)
  }
}
