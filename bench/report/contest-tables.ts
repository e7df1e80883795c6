import { UNKNOWN_SHARE } from '../load/callers.ts'
import type { Round } from '../measure/round.ts'
import { NAMES } from '../servers/contestants.ts'
import { show } from './figure.ts'
import { median, ratios, spread, sum } from './statistics.ts'
import { megabytes, table } from './table.ts'

type Rounds = ReadonlyMap<string, readonly Round[]>

/** How far the share of refused requests may differ from that of unknown ids. */
const TOLERANCE = 0.01

/** The results of each server, and the ratios, which do not depend on the machine. */
export function contestTables(rounds: Rounds): string {
  const head = ['server', 'CPU µs per request', 'requests/s', 'p50 ms', 'p99 ms', 'p99.9 ms', 'memory MB', 'errors']
  const rows = [...rounds].map(([name, measured]) => {
    const middle = (pick: (round: Round) => number): number => median(measured.map(pick))
    return [
      name,
      spread(measured.map((round) => round.cpuUsPerRequest)),
      middle((round) => round.perSecond).toFixed(0),
      show(middle((round) => round.p50Ms)),
      show(middle((round) => round.p99Ms)),
      show(middle((round) => round.p999Ms)),
      megabytes(middle((round) => round.rssBytes)),
      String(sum(measured.map((round) => round.errors))),
    ]
  })
  const spreads =
    'Figures are medians of the rounds, with the lowest and highest in brackets. Ratios compare servers within one round.'
  return `${table(head, rows)}\n${ratioTable(rounds)}\n${spreads}\n${suspicions(rounds)}`
}

/** The ratios of one server's CPU time to another's, round by round. */
function cpuRatios(rounds: Rounds, name: string, against: string): number[] {
  const cpu = (of: string): number[] => (rounds.get(of) ?? []).map((round) => round.cpuUsPerRequest)
  return ratios(cpu(name), cpu(against))
}

/** The median ratio to the cheapest of several servers; `null` if none was measured. */
export function againstCheapest(rounds: Rounds, name: string, others: readonly string[]): number | null {
  const medians = others.map((other) => median(cpuRatios(rounds, name, other))).filter((ratio) => !Number.isNaN(ratio))
  return medians.length === 0 ? null : Math.max(...medians)
}

function ratioTable(rounds: Rounds): string {
  const marquees = Object.values(NAMES.marquee)
  const rows = [...rounds.keys()].map((other) => [
    other,
    ...marquees.map((marquee) => (marquee === other ? '' : spread(cpuRatios(rounds, marquee, other)))),
  ])
  return table(['CPU per request against', ...marquees], rows)
}

/** Reports servers that refused more or less than the unknown ids: their results are not comparable. */
function suspicions(rounds: Rounds): string {
  const floors: readonly string[] = Object.values(NAMES.floor)
  const lines = [...rounds].flatMap(([name, measured]) => {
    const share = sum(measured.map((round) => round.refused)) / sum(measured.map((round) => round.requests))
    if (floors.includes(name) || Math.abs(share - UNKNOWN_SHARE) <= TOLERANCE) return []
    const wanted = `${UNKNOWN_SHARE * 100} % asked for unknown ids`
    return [
      `\n**${name} refused ${(share * 100).toFixed(1)} % of the requests, where ${wanted}: its figures do not count.**\n`,
    ]
  })
  return lines.join('')
}
