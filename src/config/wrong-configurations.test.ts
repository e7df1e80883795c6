import { describe, expect, it } from 'bun:test'
import { ALONE, WRONG } from '../../test/config/mistakes.ts'
import { loadConfiguration } from './read-configuration.ts'
import { renderProblem } from './config-problem.ts'

describe('each of these mistakes is one sentence', () => {
  it.each(WRONG)('%j', async (line, sentence) => {
    const env = { EMPTY: '', BLANKS: 'hunter2 hunter2' }
    const readFile = () => Promise.reject(Object.assign(new Error('none'), { code: 'ENOENT' }))
    const text = `crm: { kind: files, directory: ./crm }\n${line}`
    const loaded = await loadConfiguration({ path: 'm.yaml', text, env, readFile })
    const sentences = loaded.ok ? [] : loaded.problems.map(renderProblem)
    if (sentence === 'syntax') expect(sentences[0]).toMatch(/^m\.yaml:[23]: is not valid YAML at column \d+: /)
    else expect(sentences).toEqual([`m.yaml:${sentence}`])
    expect(sentences.join('\n')).not.toMatch(/hunter2|s3cr3t/)
  })

  it.each(ALONE)('%j, alone', async (text, sentence) => {
    const readFile = () => Promise.reject(new Error('none'))
    const loaded = await loadConfiguration({ path: 'm.yaml', text, env: {}, readFile })
    expect(loaded.ok ? [] : loaded.problems.map(renderProblem)).toEqual([sentence])
  })
})
