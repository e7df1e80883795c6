import { afterEach, beforeEach, describe, expect, it } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { runCommand } from '../commands/run-command.ts'
import { WorkFolder } from '../commands/work-folder.ts'
import { RUNTIMES } from '../support/depth.ts'
import { JsonServer } from './json-server.ts'

const VENUE = '7f0a4c57-5f0e-4c57-8a55-0d6c1c0a7e11'
const event = (number: number): Record<string, unknown> => ({
  id: `7f0a4c57-5f0e-4c57-8a55-${String(number).padStart(12, '0')}`,
  title: `event ${number}`,
  venue: { id: VENUE },
  starts_at: '2036-05-01T19:30:00Z',
  ends_at: '2036-05-01T21:30:00Z',
  seats: 100,
  sold: 4,
  price: '12.50',
  tags: ['Folk'],
  status: 'published',
  changed: '2026-11-01T00:00:00Z',
})

let api: JsonServer
beforeEach(async () => {
  api = await JsonServer.open(({ path, query, headers }) => {
    if (headers.authorization !== 'Bearer secret-word') return { status: 401, json: {} }
    const [page, size] = [Number(query.get('page')), Number(query.get('per_page'))]
    const events = Array.from({ length: 230 }, (_, at) => event(at + 1))
    const all = path === '/events' ? events : [{ id: VENUE, name: 'Hall', address: { city: 'Bath' }, changed: null }]
    return { json: { data: all.slice((page - 1) * size, page * size) } }
  })
})
afterEach(() => api.close())

const hasPython = spawnSync('python3', ['--version']).status === 0
if (!hasPython) console.warn('SKIPPED: python3 is missing, so the program that init writes is not run')

const KINDS = [
  ['module', ['our-crm.ts', 'marquee-connector.d.ts'], 'describe in our-crm.ts how to read your API'],
  ['command', ['our_crm.py'], 'describe in our_crm.py how to read your API'],
] as const

for (const [kind, files, next] of KINDS) {
  describe.each(RUNTIMES)(`./marquee init ${kind}, on %s`, (runtime) => {
    it.if(kind === 'module' || hasPython)('writes what reads an API once its address is set', async () => {
      using folder = new WorkFolder({})
      const written = await runCommand(['init', kind], { cwd: folder.path, runtime })
      expect([written.status, written.stderr]).toEqual([0, ''])
      for (const file of files) expect(written.stdout).toContain(`Wrote ${folder.at(file)}.`)
      expect(written.stdout).toContain(next)
      const file = folder.at('marquee.yaml')
      const text = readFileSync(file, 'utf8')
      writeFileSync(file, text.replace('https://crm.example.org/api', api.url))
      const { status, stdout } = await runCommand(['check', '--show', '1'], {
        cwd: folder.path,
        runtime,
        env: { CRM_TOKEN: 'secret-word' },
      })
      expect([status, stdout.includes('230 events and 1 venue would be served.')]).toEqual([0, true])
      expect(stdout).toContain('"Price":12.50,')
    })

    it('keeps a file that is there, also with --replace', async () => {
      const own = { [files[0]]: 'ours' }
      using folder = new WorkFolder({ ...own, 'marquee.yaml': 'crm: { kind: files }\n' })
      const { status, stdout } = await runCommand(['init', kind, '--replace'], { cwd: folder.path, runtime })
      expect([status, readFileSync(folder.at(files[0]), 'utf8')]).toEqual([0, 'ours'])
      expect(stdout).toContain(`${folder.at(files[0])} was not changed.`)
    })
  })
}
