import { join } from 'node:path'
import { Child, programOf, ROOT } from '../test/support/child.ts'

const LAST_LINE = 'What happens is logged below.'

/** What `marquee` with these arguments prints on a terminal when it starts, with its escape sequences; it is then ended. */
export async function startUpOnTerminal(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  cwd: string = ROOT,
): Promise<string> {
  // util-linux's `script` gives it a terminal; in a shell of its own, whose process it is, so that it can be ended.
  const command = [programOf('bun'), join(ROOT, 'src/main.ts'), ...args].map((word) => `'${word}'`).join(' ')
  const terminal = new Child('script', ['-qefc', `echo $$; exec ${command}`, '/dev/null'], {
    cwd,
    env: { TERM: 'xterm-256color', ...env },
  })
  const last = await terminal.line((line) => line.includes(LAST_LINE))
  const [pid = '', ...lines] = terminal.stdout.split('\r\n')
  process.kill(Number(pid), 'SIGTERM')
  await terminal.exited
  if (last === null) throw new Error(`it did not start:\n${terminal.stdout}${terminal.stderr}`)
  return lines.slice(0, lines.findIndex((line) => line.includes(LAST_LINE)) + 1).join('\n')
}
