/** Runs the soak on one runtime after the other: `MINUTES=30 npm run soak`; with --write, writes docs/soak.md. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { machine, runtimes } from '../bench/machine.ts'
import type { SoakReport } from '../test/faults/soak.ts'
import { soak } from '../test/faults/soak.ts'

const minutes = Number(process.env['MINUTES'] ?? 30)
const sampleS = Math.max(5, Math.round((minutes * 60) / 24))

let page = `# Soak

<!-- Written by MINUTES=${minutes} npm run soak -- --write. -->

An NDJSON file has 100,000 events. Each second 1,000 of them change, and the file (about 20 MB) is replaced. Clients send 200 requests a second for random
events; the latency counts from the time at which a request was due. Freshness has its defaults (maximum age 30 s, a refresh every 5 s). The runtimes
run one after the other; the clients and the writer of the file are other processes on the same machine. An answer is wrong if its status is not 200, if it is
another record, or if it is older than the maximum age. Memory is the process's resident set.

- Date: ${new Date().toISOString().slice(0, 10)}
- Machine: ${machine()}
- Versions: ${runtimes()}
`

for (const runtime of ['bun', 'node'] as const) {
  const report = await soak(runtime, minutes * 60, sampleS, 30_000)
  const text = section(report)
  console.log(text)
  page += text
  if (report.wrong > 0 || report.exit !== 0) process.exitCode = 1
}
if (process.argv.includes('--write')) writeFileSync(join(import.meta.dirname, '../docs/soak.md'), page)

function section({ runtime, samples, answers, wrong, mostResidentMb, p999Ms, exit }: SoakReport): string {
  const rows = samples.map(
    ({ secondsIn, residentMb, answers: count, p50Ms, p999Ms: slow, worstMs }) =>
      `| ${secondsIn} | ${residentMb.toFixed(0)} | ${count} | ${p50Ms.toFixed(1)} | ${slow.toFixed(0)} | ${worstMs.toFixed(0)} |`,
  )
  const figures = `${answers} answers, ${wrong} wrong; at most ${mostResidentMb.toFixed(0)} MB resident; p99.9 ${p999Ms.toFixed(0)} ms; SIGTERM at the end: exit status ${exit}`
  const head = '| s | resident MB | answers | p50 ms | p99.9 ms | worst ms |\n|---|---|---|---|---|---|'
  return `\n## ${runtime}, ${minutes} minutes\n\n${figures}.\n\n${head}\n${rows.join('\n')}\n`
}
