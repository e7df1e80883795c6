import { expect, it } from 'bun:test'
import { CommandOutput } from './command-output.ts'

it.each([
  ['\n#fail', 'crm.sh, line 2: #fail must be followed by a kind and a sentence'],
  [`#cursor ${'x'.repeat(16_385)}`, 'crm.sh, line 1: #cursor is longer than 16384 characters'],
  ['{"id":"1"}\n#deleted\n', 'crm.sh, line 2: #deleted must be followed by the id of a row'],
])('%j of a command fails the read', (printed, sentence) => {
  const output = new CommandOutput('crm.sh', 'full', () => {})
  for (const _ of output.take(Buffer.from(printed))) continue
  for (const _ of output.end()) continue
  expect(output.failure?.failure.message).toBe(sentence)
})
