import { describe, expect, it } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Runtime } from '../support/child.ts'
import { Child, programOf, ROOT } from '../support/child.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import { marquee, serve } from '../support/marquee-process.ts'
import { LISTS } from './rows.ts'

/** `marquee` as people and scripts see it, as a real process. */
export function commandSentences(name: string, runtime: Runtime): void {
  describe(`the command line on ${name} (SURFACE: Commands)`, () => {
    it('--help lists the commands, also after a command, and ends with 0', async () => {
      const top = await marquee(runtime, ['--help'])
      expect([top.status, top.stderr]).toEqual([0, ''])
      expect(top.stdout).toMatch(/^Usage: marquee .*serve/s)
      const serveHelp = await marquee(runtime, ['serve', '--help'])
      expect([serveHelp.status, serveHelp.stderr]).toEqual([0, ''])
      expect(serveHelp.stdout).toMatch(/^Usage: marquee serve .*--config <file>.*MARQUEE_CONFIG/s)
    })

    it('--version prints only the version, also after a command, and ends with 0', async () => {
      const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }
      for (const args of [['--version'], ['serve', '--version']]) {
        const { status, stdout, stderr } = await marquee(runtime, args)
        expect([status, stdout, stderr]).toEqual([0, `${version}\n`, ''])
      }
    })

    it('ends with 2 on wrong usage, with a message on stderr and no stack', async () => {
      const wrong = [
        [['bogus'], /unknown command 'bogus'/],
        [['constructor'], /unknown command 'constructor'/],
        [['serve', '--cofnig', 'x'], /unknown option '--cofnig'/],
        [['serve', 'extra'], /too many arguments/],
        [['serve', '--config'], /argument missing/],
        [['serve', '--config', '/nowhere/marquee.yaml'], /\/nowhere\/marquee\.yaml: does not exist/],
        [[], /Usage: marquee/],
      ] as const
      const ends = await Promise.all(wrong.map(([args]) => marquee(runtime, args)))
      for (const [index, [, said]] of wrong.entries()) {
        const end = ends[index]
        expect([end?.status, end?.stdout]).toEqual([2, ''])
        expect(end?.stderr).toMatch(said)
        expect(end?.stderr).not.toMatch(/\n\s+at /)
      }
    })

    it('ends with 2 if the configuration is wrong, with every problem on a line', async () => {
      const directory = new FilesDirectory({}, LISTS)
      writeFileSync(directory.configuration, 'listen:\n  prot: 80\nfreshness: { maxAge: soon }\ncrm: { kind: files }\n')
      const { status, stdout, stderr } = await marquee(runtime, ['serve', '--config', directory.configuration])
      expect([status, stdout]).toEqual([2, ''])
      const lines = stderr.trimEnd().split('\n')
      expect(lines).toHaveLength(3)
      for (const [index, said] of [/2.*prot.*port/, /3.*freshness\.maxAge/, /4.*directory/].entries()) {
        expect(lines[index]).toMatch(said)
        expect(lines[index]).toContain(directory.configuration)
      }
      directory.remove()
    })

    it('ends with 1 if the port is taken, with one sentence that says what to do', async () => {
      const directory = new FilesDirectory({}, LISTS)
      const first = await serve(runtime, directory.configuration)
      const second = new FilesDirectory({ listen: { port: first.port } }, LISTS)
      const { status, stdout, stderr } = await marquee(runtime, ['serve', '--config', second.configuration])
      await first.child.stop()
      expect([status, stdout]).toEqual([1, ''])
      expect(stderr).toMatch(new RegExp(`^127\\.0\\.0\\.1:${first.port} .*in use.*listen\\.port.*\\n$`))
      directory.remove()
      second.remove()
    })

    it('serve first writes one JSON line: that it listens, where, and what to try', async () => {
      const directory = new FilesDirectory({ listen: { basePath: '/base' } }, LISTS)
      const { child, listening, port } = await serve(runtime, directory.configuration)
      expect(child.stdout.split('\n')[0]).toBe(JSON.stringify(listening))
      expect(listening).toMatchObject({ event: 'listening', address: `http://127.0.0.1:${port}/`, operations: null })
      expect(listening.try).toStartWith(`http://127.0.0.1:${port}/base/api/events/`)
      const tried = await fetch(listening.try ?? '')
      expect(tried.status).toBe(200)
      expect(await child.stop()).toBe(0)
      for (const line of child.stdout.trimEnd().split('\n')) expect(JSON.parse(line)).toBeObject()
      expect(child.stderr).toBe('')
      directory.remove()
    })

    it('serve keeps running without a CRM, and has nothing to try', async () => {
      const directory = new FilesDirectory({}, null)
      const { child, listening } = await serve(runtime, directory.configuration)
      expect(listening.try).toBe(null)
      expect(await child.line((line) => line.includes('could not be read'))).toContain('"level":"warn"')
      expect(await child.stop()).toBe(0)
      directory.remove()
    })

    it('serve finds its configuration: --config, else MARQUEE_CONFIG, else ./marquee.yaml, and names it', async () => {
      const [named, here] = [new FilesDirectory({}, LISTS), new FilesDirectory({}, LISTS)]
      const main = join(ROOT, 'src/main.ts')
      const cases = [
        [['--config', named.configuration], { MARQUEE_CONFIG: '/nowhere' }, named],
        [[], { MARQUEE_CONFIG: named.configuration }, named],
        [[], {}, here],
      ] as const
      for (const [args, env, expected] of cases) {
        const child = new Child(programOf(runtime), [main, 'serve', ...args], { cwd: here.path, env })
        const line = JSON.parse((await child.line(() => true)) ?? '{}') as { configuration: string; try: string }
        expect(line.configuration).toStartWith(expected.configuration)
        expect(line.try).toMatch(/\/api\/events\/[0-9a-f-]{36}$/)
        await child.stop()
      }
      named.remove()
      here.remove()
    })
  })
}
