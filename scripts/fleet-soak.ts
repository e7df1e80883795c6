/**
 * Runs the soak of several instances: `MINUTES=10 npm run soak:fleet` injects faults into a cluster and its store; with
 * --write, writes docs/fleet-soak.md.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { table } from '../bench/report/table.ts'
import { machine, runtimes } from '../bench/report/versions.ts'
import type { FleetSoakReport } from '../test/cluster/fleet-soak.ts'
import {
  ASK_EVERY_MS,
  MAX_AGE_MS,
  LONGEST_FAULT_MS,
  MISSING,
  SILENCE_MS,
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
if (report.wrongs > 0) {
  process.exitCode = 1
  console.error(report.wrong.join('\n'))
}
if (process.argv.includes('--write')) writeFileSync(join(import.meta.dirname, '../docs/fleet-soak.md'), page)

function pageOf({ answers, statuses, changes, wrongs, behindOthers, faults, joined }: FleetSoakReport): string {
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

Three processes (two on Bun, one on Node) that share what one of them reads, on one PostgreSQL with ${events} events, through one Redis, behind nginx
with [deploy/nginx/instances.conf](../deploy/nginx/instances.conf); a maximum age of ${MAX_AGE_MS / 1000} s, a refresh each second. ${WATCHED} of the events
change, go and come all the time, some by transactions that come late or with a wrong stamp. Every ${ASK_EVERY_MS} ms somebody asks for one of these
through nginx, answered or not. Faults of up to ${LONGEST_FAULT_MS / 1000} s befall the instances and their store, each once a round, in random order.
In the midst of the first fault of each round, each time another one, a fourth process is started, which callers ask directly until the round ends.

A wrong answer is one that shows a row as it was not at any time within its \`Age\`, or within the maximum age; or as it was before what the same process
had shown of it; or that is neither of 200, 404, 502 and 504. In the end all must hold what the CRM does.

- Date: ${new Date().toISOString().slice(0, 10)}
- Machine: ${machine()}
- Versions: ${runtimes()}
- Seed: ${seed}

${answers} answers (${Object.entries(statuses)
    .map(([status, count]) => `${status}: ${count}`)
    .join(
      ', ',
    )}; 0 is none within 30 s, or a connection that was cut), ${changes} changes, ${faults.length} faults, **${wrongs} wrong**. Two
instances are not of one moment: ${behindOthers} answers through nginx showed a row as it had been, within the maximum age, before what another had shown.

What callers saw through nginx, from the beginning of each fault to that of the next. Refused is 502, 504 or no answer at all; the longest
refusal is the longest time in which nobody was answered otherwise.

${table(head, rows)}
A fourth process, from its being spawned until it answered 200 for the last of ${events} events, and until the fault was over in whose midst it was started.
The goal of 1 s is for those that have what they need. Where nobody reads, another has to take over first, after a silence of
${SILENCE_MS / 1000} s with these settings; where the store is lost or full, the process waits as long for it, and then reads all of the CRM by itself, unless the store
is back sooner.

${table(['while', 'runtime', 'ready after s', 'over after s'], starts)}`
}
