import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'bun:test'
import { PRESETS } from '../../src/cli/init.ts'
import { runCommand } from '../commands/run-command.ts'
import { WorkFolder } from '../commands/work-folder.ts'
import { ROOT } from '../support/child.ts'

const ROW = /^\| (?:preset )?`([\w-]+)` \| (real|recorded|documents|real, by hand) \| (.*) \|$/gm
const page = readFileSync(join(ROOT, 'docs/crm/README.md'), 'utf8')
const section = page.slice(page.indexOf('## How each was tested'))
const told = new Map(Array.from(section.matchAll(ROW), ([, name = '', how = '', what = '']) => [name, { how, what }]))
const SYSTEMS = ['postgres', 'dataverse', 'odoo', 'salesforce', 'civicrm']

describe('how a connector was tested', () => {
  it('is told for each system that ships, each preset, and http', () => {
    expect([...told.keys()].toSorted()).toEqual([...SYSTEMS, 'http', ...PRESETS].toSorted())
  })

  it.each([
    ...SYSTEMS.map((kind) => [kind, ['init', kind]] as const),
    ...PRESETS.map((preset) => [preset, ['init', 'http', '--preset', preset]] as const),
  ])('is the same in the page and in what init writes: %s', async (name, args) => {
    using folder = new WorkFolder()
    expect((await runCommand(args, { cwd: folder.path })).status).toBe(0)
    const [, how] = /# testedOn: ([^;]+); \S/.exec(readFileSync(folder.at('marquee.yaml'), 'utf8')) ?? []
    expect(how).toBe(told.get(name)?.how ?? 'not told')
  })

  it('is "recorded" only if answers were recorded, and has a date if it was done by hand', () => {
    const recordings = readdirSync(join(ROOT, 'test/connectors'), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name.replace(/-\d+$/, ''))
    for (const [name, { how, what }] of told) {
      if (how === 'recorded') expect(recordings).toContain(name)
      if (how === 'real, by hand') expect(what).toMatch(/\b20\d\d-\d\d-\d\d\b/)
    }
  })
})
