import { describe, expect, it } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { OUR_CRM } from '../../src/cli/connector-files.ts'
import { renderProblem } from '../../src/config/config-problem.ts'
import { loadConfiguration } from '../../src/config/load-configuration.ts'
import { readSmallFile } from '../../src/config/read-text.ts'
import { WorkFolder } from '../commands/work-folder.ts'
import { ROOT } from '../support/child.ts'

const PAGE = readFileSync(join(ROOT, 'docs/crm/your-own.md'), 'utf8')
const PYTHON = readFileSync(join(ROOT, 'docs/examples/our_crm.py'), 'utf8')

function blocks(language: string): readonly string[] {
  return Array.from(PAGE.matchAll(new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 'gs')), ([, block = '']) => block)
}

describe('docs/crm/your-own.md', () => {
  it('shows the connector that init writes, and the program in Python that the tests run', () => {
    expect(blocks('ts')).toContain(OUR_CRM)
    expect(blocks('python')).toEqual([PYTHON])
    expect(PYTHON.trimEnd().split('\n').length).toBeLessThanOrEqual(26)
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
