import { describe, expect, it } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { chmodSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readTemplate } from '../../src/cli/templates/read-template.ts'
import { renderProblem } from '../../src/config/config-problem.ts'
import { loadConfiguration } from '../../src/config/read-configuration.ts'
import { readSmallFile } from '../../src/time/read-text.ts'
import { WorkFolder } from '../commands/work-folder.ts'
import { ROOT } from '../support/child.ts'

const OUR_CRM = readTemplate('our-crm.ts.txt')
const PAGE = readFileSync(join(ROOT, 'docs/crm/your-own.md'), 'utf8')
const PYTHON = readFileSync(join(ROOT, 'docs/examples/our_crm.py'), 'utf8')

function blocks(language: string): readonly string[] {
  return Array.from(PAGE.matchAll(new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 'gs')), ([, block = '']) => block)
}

const hasJq = spawnSync('jq', ['--version']).status === 0
if (!hasJq) console.warn('SKIPPED: jq is missing, so the Singer tap is not run')

describe('docs/crm/your-own.md', () => {
  it('shows the connector and the program in Python that init writes', () => {
    expect(blocks('ts')).toContain(OUR_CRM)
    expect([blocks('python'), PYTHON]).toEqual([[PYTHON], readTemplate('our_crm.py')])
    expect(PYTHON.trimEnd().split('\n').length).toBeLessThanOrEqual(26)
  })

  it.if(hasJq)('shows a Singer tap as a connector, which gives its rows and their number, or fails', () => {
    const messages = [
      { type: 'SCHEMA', stream: 'events' },
      { type: 'RECORD', stream: 'events', record: { id: 1 } },
      { type: 'RECORD', stream: 'venues', record: { id: 9 } },
      { type: 'STATE', value: {} },
    ]
    const tap = `#!/bin/sh\ngrep -q good "$2" || { echo '${JSON.stringify(messages[1])}'; exit 1; }\ncat "$PWD/messages"\n`
    const [script = ''] = blocks('sh')
    using folder = new WorkFolder({
      'our_tap.sh': script,
      'tap-theatre': tap,
      messages: messages.map((message) => `${JSON.stringify(message)}\n`).join(''),
    })
    chmodSync(folder.at('tap-theatre'), 0o755)
    const ran = (list: string, settings: string): unknown => {
      const env = { PATH: `${folder.path}:${process.env['PATH']}` }
      const { status, stdout } = spawnSync('sh', ['our_tap.sh', list, 'full'], {
        cwd: folder.path,
        env,
        input: settings,
      })
      return [status, String(stdout)]
    }
    expect(ran('events', '{"key":"good"}')).toEqual([0, '{"id":1}\n#total 1\n'])
    expect(ran('venues', '{"key":"good"}')).toEqual([0, '{"id":9}\n#total 1\n'])
    expect(ran('events', '{}')).toEqual([1, '#fail broken the tap has failed\n'])
  })

  it('shows only configurations that are right', async () => {
    using folder = new WorkFolder({ 'our-crm.ts': OUR_CRM, 'our_crm.py': PYTHON, 'crm.key': 'key' })
    expect(blocks('yaml').length).toBe(2)
    for (const text of blocks('yaml')) {
      const loaded = await loadConfiguration({
        path: folder.at('marquee.yaml'),
        text,
        env: {},
        readFile: readSmallFile,
      })
      expect(loaded.ok ? [] : loaded.problems.map(renderProblem)).toEqual([])
    }
  })
})
