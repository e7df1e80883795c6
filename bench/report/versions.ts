import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cpus, release } from 'node:os'
import { join } from 'node:path'
import { programOf, ROOT } from '../../test/support/child.ts'
import { findTool } from '../machine/find-tool.ts'

/** The machine and the software versions, as a Markdown list. */
export function machineAndVersions(): string {
  const versions = [
    runtimes(),
    ...['hono', 'fastify', 'autocannon'].map((name) => `${name} ${packageVersion(name)}`),
    ...[
      ['nginx', '-v'],
      ['varnishd', '-V'],
      ['wrk', '-v'],
      ['redis-server', '--version'],
    ].flatMap(([name = '', option = '']) => {
      const program = findTool(name)
      return program === null ? [] : [`${name} ${said(program, option)}`]
    }),
  ]
  const load = `${findTool('wrk') === null ? 'autocannon' : 'wrk'}; where it is paced, bench/load/paced-client.ts`
  return `- Machine: ${machine()}\n- Versions: ${versions.join(', ')}\n- Load: ${load}\n`
}

export function machine(): string {
  const cores = cpus()
  return `${cores[0]?.model ?? 'a processor of unknown make'}, ${cores.length} cores, Linux ${release()}`
}

export function runtimes(): string {
  return `Bun ${Bun.version}, Node ${said(programOf('node'), '--version')}`
}

/** The first version number in a program's output. */
function said(program: string, option: string): string {
  const { stdout, stderr } = spawnSync(program, [option], { encoding: 'utf8' })
  return /\d+\.\d+(?:\.\d+)*/.exec(stdout + stderr)?.[0] ?? 'of unknown version'
}

function packageVersion(name: string): string {
  const text = readFileSync(join(ROOT, 'node_modules', name, 'package.json'), 'utf8')
  return (JSON.parse(text) as { readonly version: string }).version
}
