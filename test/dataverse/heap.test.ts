import { expect, it } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Child, programOf, ROOT } from '../support/child.ts'
import { eventually } from '../support/eventually.ts'
import { untilListening } from '../support/marquee-process.ts'
import { crmSection, fill, openEnvironment } from './environment.ts'

interface Snapshot {
  readonly strings: readonly string[]
}

function snapshotIn(directory: string): Snapshot | null {
  const name = readdirSync(directory).find((file) => file.endsWith('.heapsnapshot'))
  try {
    return name === undefined ? null : (JSON.parse(readFileSync(join(directory, name), 'utf8')) as Snapshot)
  } catch {
    // It is still being written.
    return null
  }
}

it('a heap snapshot on Node holds the secret once, and a token that is over in requests alone', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'marquee-heap-'))
  const environment = await openEnvironment()
  fill(environment, 5)
  const { standIn } = environment
  const { directory: aad } = standIn
  writeFileSync(join(directory, 'secret'), aad.secret)
  const crm = crmSection(standIn, { clientSecret: { file: 'secret' } })
  const freshness = { maxAge: '5s', refreshEvery: '50ms' }
  const path = join(directory, 'marquee.yaml')
  writeFileSync(path, JSON.stringify({ listen: { port: 0 }, operations: null, freshness, crm }))
  const args = ['--heapsnapshot-signal=SIGUSR2', `--diagnostic-dir=${directory}`, join(ROOT, 'src/main.ts'), 'serve']
  const child = new Child(programOf('node'), [...args, '--config', path], { cwd: directory })
  await untilListening(child)
  const reads = async (): Promise<number> => standIn.reads.filter(({ status }) => status === 200).length
  await eventually(reads, (count) => count > 10)
  const over = new Set(standIn.reads.map(({ headers }) => String(headers.authorization).slice('Bearer '.length)))
  aad.revoke()
  const before = await reads()
  await eventually(reads, (count) => count > before + 20)
  child.signal('SIGUSR2')
  const snapshot = await eventually(
    async () => snapshotIn(directory),
    (found) => found !== null,
  )
  await child.stop()
  standIn.close()
  rmSync(directory, { recursive: true })
  const holding = (text: string): readonly string[] => snapshot?.strings.filter((held) => held.includes(text)) ?? []
  expect(over.size).toBe(1)
  // An idle connection remembers its last request, and nothing else does.
  for (const token of over) for (const held of holding(token)) expect(held).toBe(`Bearer ${token}`)
  expect(holding(aad.secret)).toEqual([aad.secret])
})
