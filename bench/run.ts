// `npm run bench` runs all three programs and writes bench/README.md and docs/benchmarks.md; `npm run bench -- serve`
// (read, size) runs one. `--quick` shows in minutes that everything runs, and writes nothing.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../test/support/child.ts'
import { machine, runtimes, toolOf, versionOf } from './machine.ts'
import { read } from './read.ts'
import { type Program, PROGRAMS, renderResult, type Result, type Table, writeResult } from './report.ts'
import { serve } from './serve.ts'
import { size } from './size.ts'
import { type Scale, Workshop } from './workshop.ts'

const FULL: Scale = { sizes: [10_000, 100_000, 1_000_000], rounds: 7, seconds: 4, starts: 3 }
const QUICK: Scale = { sizes: [500, 2000], rounds: 1, seconds: 1, starts: 1 }

const MEASURE: Readonly<Record<Program, (workshop: Workshop, scale: Scale) => Promise<readonly Table[]>>> = {
  serve,
  read,
  size,
}

const given = process.argv.slice(2)
const isQuick = given.includes('--quick')
const named = given.filter((word) => word !== '--quick')
const unknown = named.filter((name) => !Object.hasOwn(MEASURE, name))
if (unknown.length > 0) {
  console.error(`there is no program ${unknown.join(', ')}; they are ${PROGRAMS.join(', ')}`)
  process.exit(2)
}

const workshop = new Workshop()
for (const program of PROGRAMS) {
  if (named.length > 0 && !named.includes(program)) continue
  console.error(`${program} …`)
  const tables = await MEASURE[program](workshop, isQuick ? QUICK : FULL)
  const result: Result = { date: new Date().toISOString().slice(0, 10), machine: `${machine()}; ${versions()}`, tables }
  console.log(renderResult(result))
  if (isQuick) console.log('A quick run: it shows that everything runs; its figures say nothing.')
  else writeResult(program, result)
}
process.exit()

function versions(): string {
  const packages = ['hono', 'fastify'].map((name) => {
    const text = readFileSync(join(ROOT, 'node_modules', name, 'package.json'), 'utf8')
    return `${name} ${(JSON.parse(text) as { readonly version: string }).version}`
  })
  const tools = [
    `nginx ${versionOf(toolOf('nginx'), '-v')}`,
    `Varnish ${versionOf(toolOf('varnishd', 'varnish'), '-V')}`,
    `wrk ${versionOf(toolOf('wrk'), '-v')}`,
  ]
  return [runtimes(), ...packages, ...tools].join(', ')
}
