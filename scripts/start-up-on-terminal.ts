import { join } from 'node:path'
import { Child, programOf, ROOT } from '../test/support/child.ts'

const LAST_LINE = 'What happens is logged below.'

/** Starts `marquee` on a terminal, returns what it prints until it listens, with escape sequences, and stops it. */
export async function startUpOnTerminal(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  cwd: string = ROOT,
): Promise<string> {
  // util-linux's `script` provides the terminal. The shell prints its process id, which the service takes over, for the
  // kill.
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
