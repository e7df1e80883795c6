import { expect, it } from 'bun:test'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../test/support/child.ts'
import { textOfDrawing, withoutStyle } from './draw-terminal.ts'
import { startUpOnTerminal } from './start-up-on-terminal.ts'

const PORTS = /127\.0\.0\.1:\d+/g
const ORIGIN = /^( {2}read from +).*$/m

/** The terminal output of a start, in the checkout unless another folder is given. */
async function printedOnTerminal(env: Readonly<Record<string, string>>, elsewhere?: string): Promise<string> {
  const configuration = join(tmpdir(), `marquee-start-up-${process.pid}.yaml`)
  const crm = { kind: 'files', directory: join(ROOT, 'sample') }
  writeFileSync(configuration, JSON.stringify({ listen: { port: 0 }, operations: { port: 0 }, lists: 'on', crm }))
  try {
    if (elsewhere !== undefined) return await startUpOnTerminal(['serve', '--config', configuration], env, elsewhere)
    return await startUpOnTerminal(['serve'], { ...env, MARQUEE_CONFIG: configuration })
  } finally {
    rmSync(configuration)
  }
}

it('docs/images/start-up.svg shows what a start on a terminal prints', async () => {
  const printed = await printedOnTerminal({})
  expect(printed).toContain('\x1b[1m')
  const still = (text: string): string => text.replaceAll(PORTS, '127.0.0.1:8080').replace(ORIGIN, '$1…')
  const drawn = textOfDrawing(readFileSync(join(ROOT, 'docs/images/start-up.svg'), 'utf8'))
  expect(drawn[0]).toBe('$ ./marquee serve')
  expect(still(drawn.slice(1).join('\n'))).toBe(still(withoutStyle(printed)))
})

it('docs/images/init-from.svg shows what a look at files prints, as docs/publishing-from-files.md does', () => {
  const drawn = textOfDrawing(readFileSync(join(ROOT, 'docs/images/init-from.svg'), 'utf8')).join('\n')
  expect(readFileSync(join(ROOT, 'docs/publishing-from-files.md'), 'utf8')).toContain(drawn)
})

it('where NO_COLOR is set, nothing is coloured', async () => {
  const printed = await printedOnTerminal({ NO_COLOR: '1' })
  expect(printed).toContain('Marquee')
  expect(printed).not.toContain('\x1b')
})

it('from elsewhere, it names the check by a path that works there, and with the same configuration', async () => {
  const printed = await printedOnTerminal({ NO_COLOR: '1' }, tmpdir())
  const command = / withheld, (\/.+) tells why$/m.exec(printed)?.[1]
  expect(command).toStartWith(`${join(ROOT, 'marquee')} check --config ${tmpdir()}/`)
})
