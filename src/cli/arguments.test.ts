import { describe, expect, it } from 'bun:test'
import { commandFirst } from './arguments.ts'

describe('options before the command', () => {
  it.each([
    [['check'], ['check']],
    [[], []],
    [
      ['--config', 'x', 'check', '--json'],
      ['check', '--config', 'x', '--json'],
    ],
    [
      ['--json', '--config=x', 'explain', 'id'],
      ['explain', '--json', '--config=x', 'id'],
    ],
    [['--help'], ['--help']],
    [
      ['--config', 'x', '--help'],
      ['--config', 'x', '--help'],
    ],
    [
      ['explain', '--json', 'check'],
      ['explain', '--json', 'check'],
    ],
  ])('%j is %j', (args, ordered) => {
    expect(commandFirst(args)).toEqual(ordered)
  })

  it('alone they are no command', () => {
    for (const args of [['--config', 'x'], ['--config'], ['--json'], ['--config=x', '--json']]) {
      expect(commandFirst(args)).toBe(null)
    }
  })
})
