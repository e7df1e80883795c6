/**
 * Runs the soak of several instances: `MINUTES=10 npm run soak:fleet` injects faults into a cluster and its store; with
 * --write, writes docs/fleet-soak.md.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { machine, runtimes } from '../bench/machine.ts'
import { renderTable } from '../bench/report.ts'
import type { FleetSoakReport } from '../test/cluster/fleet-soak.ts'
import {
  ASK_EVERY_MS,
  MAX_AGE_MS,
  LONGEST_FAULT_MS,
  MISSING,
  ELECTION_TIMEOUT_MS,
  soakFleet,
  WATCHED,
} from '../test/cluster/fleet-soak.ts'

const minutes = Number(process.env['MINUTES'] ?? 10)
const seed = Number(process.env['MARQUEE_SEED'] ?? Date.now() % 1e6)
const events = 100_000

if (MISSING.length > 0) {
  console.error(`not installed: ${MISSING.join(', ')}`)
  process.exit(2)
}
const report = await soakFleet({ seconds: minutes * 60, seed, events })
const page = pageOf(report)
console.log(page)
console.error(`what the processes said is in ${report.logsIn}`)
const { unexplained } = report.refusals
if (unexplained.length > 0) console.error(`refused without an explanation:\n${unexplained.join('\n')}`)
if (report.wrongs > 0) console.error(report.wrong.join('\n'))
if (unexplained.length + report.wrongs > 0) process.exitCode = 1
if (process.argv.includes('--write')) writeFileSync(join(import.meta.dirname, '../docs/fleet-soak.md'), page)

function pageOf({
  answers,
  statuses,
  changes,
  wrongs,
  behindOthers,
  faults,
  joined,
  refusals,
}: FleetSoakReport): string {
  const seconds = (ms: number): string => (ms / 1000).toFixed(1)
  const rows = [...new Set(faults.map(({ name }) => name))].toSorted().map((name) => {
    const those = faults.filter((fault) => fault.name === name)
    const most = (of: (fault: (typeof faults)[number]) => number): number => Math.max(...those.map(of))
    const sum = (of: (fault: (typeof faults)[number]) => number): number =>
      those.reduce((total, fault) => total + of(fault), 0)
    return [
      name,
      String(those.length),
      String(sum((fault) => fault.answers)),
      String(sum((fault) => fault.refused)),
      String(those.filter((fault) => fault.refused > 0).length),
      seconds(most((fault) => fault.refusedForMs)),
      seconds(most((fault) => fault.longestWaitMs)),
    ]
  })
  const head = ['fault', 'times', 'answers', 'refused', 'times with any', 'longest refusal s', 'longest wait s']
  const starts = joined.map(({ fault, runtime, readyMs, overMs }) => [
    fault,
    runtime,
    seconds(readyMs),
    seconds(Math.max(0, overMs)),
  ])
  return `# Soak of several instances

<!-- Written by MINUTES=${minutes} npm run soak:fleet -- --write. -->

A cluster of three processes (two on Bun, one on Node) reads one PostgreSQL with ${events} events and shares one Redis, behind nginx
with [deploy/nginx/marquee.conf](../deploy/nginx/marquee.conf) (without its cache and limits). The maximum age is ${MAX_AGE_MS / 1000} s, with a refresh each second. ${WATCHED} of the events
change, disappear and reappear all the time, some in transactions that commit late or with a wrong \`updated_at\`. Every ${ASK_EVERY_MS} ms a caller requests one of
these through nginx. Faults of up to ${LONGEST_FAULT_MS / 1000} s are injected into the instances and their store, each once per round, in random order. During the
first fault of each round, a different one each time, a fourth process starts, which callers ask directly until the round ends.

An answer is wrong if it shows a row in a state that it did not have at any time within its \`Age\`, or within the maximum age; if the same process had shown a
newer state of the row before; or if its status is not 200, 404, 502 or 504. At the end, all instances must hold what the CRM holds.

- Date: ${new Date().toISOString().slice(0, 10)}
- Machine: ${machine()}
- Versions: ${runtimes()}
- Seed: ${seed}

${answers} answers (${Object.entries(statuses)
    .map(([status, count]) => `${status}: ${count}`)
    .join(
      ', ',
    )}; 0 is no answer within 30 s, or a closed connection), ${changes} changes, ${faults.length} faults, **${wrongs} wrong**. Two
instances may be a moment apart: ${behindOthers} answers through nginx showed a row in an older state than another instance had shown, within the maximum age.

This table shows what callers saw through nginx, from the beginning of each fault to that of the next. *Refused* is 502, 504 or no answer; the longest
refusal is the longest time without any other answer.

${renderTable({ title: '', head, rows })}
Each refusal is explained by what the instance that sent it said of itself at that time, or by nginx, which no instance answered. ${refusals.unexplained.length}
are not explained.

${renderTable({ title: '', head: ['why', 'refusals'], rows: Object.entries(refusals.explained).map(([why, count]) => [why, String(count)]) })}
This table shows the fourth process: the time from its start until it answered 200 for the last of ${events} events, and until the fault was over.
The goal of 1 s applies if a leader and the store are available. If nobody leads, another instance has to take over first, after an election time of
${ELECTION_TIMEOUT_MS / 1000} s with these settings. If the store is lost or full, the process waits for it as long, and then reads the whole CRM itself, unless the store
is back sooner.

${renderTable({ title: '', head: ['while', 'runtime', 'ready after s', 'over after s'], rows: starts })}`
}
