import { cpus } from 'node:os'
import type { Round } from './run.ts'

export interface Results {
  readonly rounds: ReadonlyMap<string, readonly Round[]>
  /** Servers that are not installed here. */
  readonly leftOut: readonly string[]
  readonly events: number
  readonly seconds: number
}

/** The table of a run as Markdown: medians, the spread of CPU, and the ratios that outlive the machine. */
export function report({ rounds, leftOut, events, seconds }: Results): string {
  const lines = [
    `${new Date().toISOString().slice(0, 10)}, ${cpus()[0]?.model ?? 'unknown'} (${cpus().length} cores), ${events} events, ${rounds.values().next().value?.length ?? 0} interleaved rounds of ${seconds} s, 64 connections, server and client on a core each.`,
    '',
    '| server | CPU µs per request, median (min–max) | requests/s | p50 ms | p99 ms | p99.9 ms | memory MB | errors |',
    '|---|---|---|---|---|---|---|---|',
  ]
  for (const [name, measured] of rounds) {
    const cpu = measured.map((round) => round.cpuUsPerRequest)
    const column = (pick: (round: Round) => number): number => median(measured.map(pick))
    lines.push(
      `| ${name} | ${median(cpu).toFixed(1)} (${Math.min(...cpu).toFixed(1)}–${Math.max(...cpu).toFixed(1)}) | ${Math.round(column((round) => round.perSecond))} | ${column((round) => round.p50Ms).toFixed(2)} | ${column((round) => round.p99Ms).toFixed(2)} | ${column((round) => round.p999Ms).toFixed(2)} | ${Math.round(column((round) => round.rssBytes) / 1e6)} | ${measured.reduce((sum, round) => sum + round.errors, 0)} |`,
    )
  }
  lines.push('', '| CPU per request | against | ratio, median of rounds (min–max) |', '|---|---|---|')
  for (const marquee of ['Marquee on Bun', 'Marquee on Node']) {
    for (const other of rounds.keys()) {
      const ratios = paired(rounds.get(marquee) ?? [], rounds.get(other) ?? [])
      if (other === marquee || ratios.length === 0) continue
      lines.push(
        `| ${marquee} | ${other} | ${median(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}) |`,
      )
    }
  }
  if (leftOut.length > 0) lines.push('', `Left out, since not installed here: ${leftOut.join(', ')}.`)
  return `${lines.join('\n')}\n`
}

/** The ratio of each round with its neighbour of the same round. */
function paired(left: readonly Round[], right: readonly Round[]): number[] {
  return left.flatMap((round, index) => {
    const other = right[index]
    return other === undefined ? [] : [round.cpuUsPerRequest / other.cpuUsPerRequest]
  })
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
