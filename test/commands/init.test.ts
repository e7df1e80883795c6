import { describe, expect, it } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { kinds } from '../../src/cli/init.ts'
import { KEYS } from '../../src/config/configuration.ts'
import { loadConfiguration } from '../../src/config/read-configuration.ts'
import { renderProblem } from '../../src/config/config-problem.ts'
import { readSmallFile } from '../../src/time/read-text.ts'
import { markedByEditor, SCHEMA_TEXT } from '../config/editor-schema.ts'
import { runCommand } from './run-command.ts'
import { WorkFolder } from './work-folder.ts'
import { RUNTIMES } from '../support/depth.ts'

/** What its comments say must be set. */
const ENV = {
  DATABASE_URL: 'postgres://marquee:secret@db.example:5432/crm',
  DATAVERSE_CLIENT_SECRET: 'secret',
  CRM_TOKEN: 'secret',
  ODOO_KEY: 'secret',
  SALESFORCE_SECRET: 'secret',
  CIVICRM_KEY: 'secret',
}

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
      expect(stdout).toStartWith(`Wrote ${folder.at('marquee.yaml')}.\n`)
      expect(stdout).toContain('\nNext: ')
      const path = folder.at('marquee.yaml')
      // A question is for a person to answer.
      const text = readFileSync(path, 'utf8').replace(": '?' ", ': [] ')
      for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(120)
      // A comment that holds a key is an offer: it must be good.
      const offered = text.replaceAll(/^( *)# ?( *[a-zA-Z]+:.*)$/gm, '$1$2')
      expect(offered).not.toBe(text)
      for (const given of [text, offered]) {
        const env = { ...ENV, MARQUEE_OPERATIONS_TOKEN: 'token' }
        const loaded = await loadConfiguration({ path, text: given, env, readFile: readSmallFile })
        expect(loaded.ok ? [] : loaded.problems.map(renderProblem)).toEqual([])
        expect(markedByEditor(given)).toEqual([])
      }
    },
  )

  it('names the schema for editors, by a path that leads there', async () => {
    using folder = new WorkFolder()
    expect((await runCommand(['init'], { cwd: folder.path })).status).toBe(0)
    const [first = ''] = readFileSync(folder.at('marquee.yaml'), 'utf8').split('\n')
    const path = /^# yaml-language-server: \$schema=(\S+)$/.exec(first)?.[1]
    expect(readFileSync(resolve(folder.path, path ?? ''), 'utf8')).toBe(SCHEMA_TEXT)
  })

  it('without a kind it is for files; never over an existing file', async () => {
    using folder = new WorkFolder()
    expect((await runCommand(['init'], { cwd: folder.path })).status).toBe(0)
    expect(readFileSync(folder.at('marquee.yaml'), 'utf8')).toContain('kind: files')
    folder.write('marquee.yaml', 'mine')
    const again = await runCommand(['init'], { cwd: folder.path })
    expect([again.status, again.stdout]).toEqual([1, ''])
    expect(again.stderr).toBe(
      `${folder.at('marquee.yaml')} already exists and was not changed; with --replace it is overwritten\n`,
    )
    expect(readFileSync(folder.at('marquee.yaml'), 'utf8')).toBe('mine')
  })

  it('an unknown kind writes nothing and ends with 2', async () => {
    using folder = new WorkFolder()
    const { status, stderr } = await runCommand(['init', 'postgre'], { cwd: folder.path })
    expect(status).toBe(2)
    expect(stderr).toStartWith('there is no kind of CRM called "postgre"; did you mean postgres? known: files, ')
    expect(readdirSync(folder.path)).toEqual([])
  })

  it('writes for every kind that lists are on, and that the last lists are served for 12 hours', async () => {
    using folder = new WorkFolder()
    for (const kind of [
      'files',
      'postgres',
      'dataverse',
      'odoo',
      'http',
      'salesforce',
      'civicrm',
      'module',
      'command',
    ]) {
      expect((await runCommand(['init', kind, '--replace'], { cwd: folder.path })).status).toBe(0)
      const text = readFileSync(folder.at('marquee.yaml'), 'utf8')
      expect(text).toMatch(/^lists: on {2,}# \S/m)
      expect(text).toMatch(/^  staleIfError: 12h {2,}# \S/m)
    }
  })

  it.each(RUNTIMES)(
    '%s: --replace keeps the idNamespace of the file it replaces, so that every address stays',
    async (runtime) => {
      using folder = new WorkFolder({
        'e.csv': 'Nr;Titel;Beginn;Ende;Frei;Preis\n1;A;2036-12-11 19:30;2036-12-11 22:00;1;2\n',
      })
      const proposed = async (...more: readonly string[]): Promise<string | undefined> => {
        const args = ['init', 'files', '--from', 'e.csv', ...more]
        const { status, stderr } = await runCommand(args, { cwd: folder.path, runtime })
        expect([status, stderr]).toEqual([0, ''])
        const text = readFileSync(folder.at('marquee.yaml'), 'utf8')
        return /^ {2}idNamespace: (\S+)/m.exec(text)?.[1]
      }
      const drawn = await proposed()
      expect(drawn).toMatch(/^[-\da-f]{36}$/)
      expect((await runCommand(['init', 'files', '--from', 'e.csv'], { cwd: folder.path, runtime })).status).toBe(1)
      expect(await proposed('--replace')).toBe(drawn)
      // Also where somebody broke the file meanwhile.
      folder.write('marquee.yaml', `${readFileSync(folder.at('marquee.yaml'), 'utf8')}\n  }: broken\n`)
      expect(await proposed('--replace')).toBe(drawn)
      // Also where the id is a question, as two rows have the same number, title and start.
      folder.write(
        'e.csv',
        'Nr;Titel;Beginn;Ende\n1;A;2036-12-11 19:30;2036-12-11 22:00\n1;A;2036-12-11 19:30;2036-12-11 23:00\n',
      )
      expect(await proposed('--replace')).toBe(drawn)
      expect(readFileSync(folder.at('marquee.yaml'), 'utf8')).toContain("Id: '?'")
      expect(readdirSync(folder.path).toSorted()).toEqual(['e.csv', 'marquee.yaml'])
    },
  )

  it('--replace keeps the reference to an idNamespace, and does not draw another one', async () => {
    using folder = new WorkFolder({ 'e.csv': 'Nr;Titel;Beginn;Ende\n1;A;2036-12-11 19:30;2036-12-11 22:00\n' })
    for (const [written, kept] of [
      ['{ env: OUR_IDS }', '{ env: "OUR_IDS" }'],
      ['{ env: OUR_IDS }   # ours\n  }: broken', '{ env: "OUR_IDS" }'],
      ['\n    file: ./our ids', '{ file: "./our ids" }'],
      ['\n    file: "./our ids"\n  }: broken', '{ file: "./our ids" }'],
    ] as const) {
      folder.write('marquee.yaml', `crm:\n  kind: files\n  directory: .\n  idNamespace: ${written}\n`)
      const args = ['init', 'files', '--from', 'e.csv', '--replace']
      const { status, stderr } = await runCommand(args, { cwd: folder.path })
      expect([status, stderr]).toEqual([0, ''])
      expect(readFileSync(folder.at('marquee.yaml'), 'utf8')).toContain(`\n  idNamespace: ${kept}   # `)
    }
  })

  it('--replace leaves what is no file as it is, and writes where there is none', async () => {
    using folder = new WorkFolder({ 'marquee.yaml/x': '' })
    const { status, stderr } = await runCommand(['init', '--replace'], { cwd: folder.path })
    expect([status, stderr]).toEqual([1, `${folder.at('marquee.yaml')} is not a regular file and was not changed\n`])
    folder.remove('marquee.yaml')
    expect((await runCommand(['init', '--replace'], { cwd: folder.path })).status).toBe(0)
  })
})
