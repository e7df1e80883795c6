import { describe, expect, it } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { kinds } from '../../src/commands/init.ts'
import { KEYS } from '../../src/config/configuration.ts'
import { loadConfiguration } from '../../src/config/load-configuration.ts'
import { renderProblem } from '../../src/config/problem.ts'
import { readSmallFile } from '../../src/config/read-text.ts'
import { runCommand } from './run-command.ts'
import { WorkFolder } from './work-folder.ts'

/** What its comments say must be set. */
const ENV = { DATABASE_URL: 'postgres://marquee:secret@db.example:5432/crm', DATAVERSE_CLIENT_SECRET: 'secret' }

describe('marquee init (SURFACE: Commands)', () => {
  it('knows a template for each kind of CRM', () => {
    const { inside } = KEYS.crm.notes
    expect(kinds).toEqual(inside?.kind === 'kinds' ? Object.keys(inside.kinds) : [])
  })

  it.each([...kinds])(
    'writes a marquee.yaml for %s that is right as it stands, and with its comments taken off',
    async (kind) => {
      using folder = new WorkFolder()
      const { status, stdout, stderr } = await runCommand(['init', kind], { cwd: folder.path })
      expect([status, stderr]).toEqual([0, ''])
      expect(stdout).toStartWith(`Wrote ${folder.at('marquee.yaml')}.\nNext: `)
      const path = folder.at('marquee.yaml')
      const text = readFileSync(path, 'utf8')
      for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(120)
      // A comment that holds a key is an offer: it must be good.
      const offered = text.replaceAll(/^( *)# ?( *[a-zA-Z]+:.*)$/gm, '$1$2')
      expect(offered).not.toBe(text)
      for (const given of [text, offered]) {
        const env = { ...ENV, MARQUEE_OPERATIONS_TOKEN: 'token' }
        const loaded = await loadConfiguration({ path, text: given, env, readFile: readSmallFile })
        expect(loaded.ok ? [] : loaded.problems.map(renderProblem)).toEqual([])
      }
    },
  )

  it('without a kind it is for files; never over an existing file', async () => {
    using folder = new WorkFolder()
    expect((await runCommand(['init'], { cwd: folder.path })).status).toBe(0)
    expect(readFileSync(folder.at('marquee.yaml'), 'utf8')).toContain('kind: files')
    folder.write('marquee.yaml', 'mine')
    const again = await runCommand(['init'], { cwd: folder.path })
    expect([again.status, again.stdout]).toEqual([1, ''])
    expect(again.stderr).toBe(`${folder.at('marquee.yaml')} exists already, and was left as it is\n`)
    expect(readFileSync(folder.at('marquee.yaml'), 'utf8')).toBe('mine')
  })

  it('an unknown kind writes nothing and ends with 2', async () => {
    using folder = new WorkFolder()
    const { status, stderr } = await runCommand(['init', 'postgre'], { cwd: folder.path })
    expect(status).toBe(2)
    expect(stderr).toStartWith('there is no kind of CRM called "postgre"; did you mean postgres? known: files, ')
    expect(readdirSync(folder.path)).toEqual([])
  })
})
