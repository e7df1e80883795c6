import { describe, expect, it } from 'bun:test'
import { symlinkSync, unlinkSync } from 'node:fs'
import { runCommand, STACK } from './run-command.ts'
import { WorkFolder } from './work-folder.ts'

const COMMANDS = ['serve', 'check', 'compare', 'explain', 'init', 'accept', 'ready', 'live']

describe('what marquee says of itself (SURFACE: Commands)', () => {
  it('--help, -h and help teach each command with examples and its exit statuses, and end with 0', async () => {
    using folder = new WorkFolder()
    const asked = COMMANDS.flatMap((name) => [
      [name, '--help'],
      [name, '-h'],
      ['help', name],
    ])
    const ends = await Promise.all(asked.map((args) => runCommand(args, { cwd: folder.path })))
    for (const [index, { status, stdout, stderr }] of ends.entries()) {
      const name = COMMANDS[Math.floor(index / 3)]
      expect([status, stderr]).toEqual([0, ''])
      expect(stdout).toStartWith(`Usage: marquee ${name} `)
      expect(stdout).toContain(`For example:\n  ./marquee ${name}`)
      expect(stdout).toContain('Exit status: 0 ')
      for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(120)
    }
  })

  it('without a command it prints the help on stderr and ends with 2; asked for, on stdout with 0', async () => {
    const [alone, asked] = await Promise.all([runCommand([]), runCommand(['--help'])])
    expect([alone.status, alone.stdout]).toEqual([2, ''])
    expect([asked.status, asked.stderr]).toEqual([0, ''])
    expect(alone.stderr).toBe(asked.stdout)
    for (const name of COMMANDS) expect(asked.stdout).toContain(`\n  ${name} `)
  })
})

describe('wrong usage ends with 2 and one sentence (SURFACE: Commands)', () => {
  const wrong: readonly (readonly [args: readonly string[], says: RegExp])[] = [
    [['chekc'], /unknown command 'chekc'; did you mean check\? see `\.\/marquee --help`/],
    [['constructor'], /unknown command 'constructor'/],
    [['__proto__'], /unknown command '__proto__'/],
    [['toString', 'x'], /unknown command 'toString'/],
    [[''], /unknown command ''/],
    [['\u001b[31mred'], /unknown command '\\u001b\[31mred'/],
    [['--config', 'x', 'check'], /unknown option '--config'; see `\.\/marquee --help`/],
    [['--verbose'], /unknown option '--verbose'/],
    [['check', '--config'], /argument missing; see `\.\/marquee check --help`/],
    [['check', '--config', ''], /The name of a file is expected/],
    [['check', '--config='], /The name of a file is expected/],
    [['check', 'marquee.yaml'], /too many arguments for 'check'/],
    [['explain'], /missing required argument 'id'; see `\.\/marquee explain --help`/],
    [['explain', 'a', 'b'], /too many arguments for 'explain'/],
    [['explain', '--jsn', 'a'], /unknown option '--jsn'; did you mean --json\?/],
    [
      ['serve', '--port', 'x'],
      /'x' is invalid\. A whole number from 0 to 65535 is expected; see `\.\/marquee serve --help`/,
    ],
    [['serve', '--port', '65536'], /A whole number from 0 to 65535 is expected/],
    [['ready', '--operations-port', '-1'], /A whole number from 0 to 65535 is expected/],
    [['check', '--show', '1001'], /'1001' is invalid\. A whole number up to 1000 is expected/],
    [['check', '--show', '-1'], /A whole number up to 1000 is expected/],
    [['check', '--port', '0'], /unknown option '--port'/],
    [['serve', '--json'], /unknown option '--json'/],
    [['init', '--config', 'x'], /unknown option '--config'/],
    [['init', 'file'], /no kind of CRM called "file"; did you mean files\? known: files/],
    [['init', 'constructor'], /no kind of CRM called "constructor"; known: /],
  ]

  it('whatever is wrong, on Bun and on Node', async () => {
    using folder = new WorkFolder()
    const onBun = Promise.all(wrong.map(([args]) => runCommand(args, { cwd: folder.path })))
    const some = wrong.filter((_, index) => index % 6 === 0)
    const onNode = Promise.all(some.map(([args]) => runCommand(args, { cwd: folder.path, runtime: 'node' })))
    const ends = [...(await onBun), ...(await onNode)]
    for (const [index, [args, says]] of [...wrong, ...some].entries()) {
      const end = ends[index]
      expect([args, end?.status, end?.stdout]).toEqual([args, 2, ''])
      expect(end?.stderr).toMatch(says)
      expect(end?.stderr).toMatch(/^[^\n]+\n$/)
      expect(end?.stderr).not.toMatch(STACK)
    }
  })
})

describe('a configuration that is not to be had ends every command alike, with 2 (SURFACE: Commands)', () => {
  const each = ['serve', 'check', 'accept', 'ready', 'live', 'explain'].map((name) =>
    name === 'explain' ? [name, 'x'] : [name],
  )

  it('a file that --config names and that is missing', async () => {
    using folder = new WorkFolder()
    for (const { status, stdout, stderr } of await Promise.all(
      each.map((args) => runCommand([...args, '--config', 'nope.yaml'], { cwd: folder.path })),
    )) {
      expect([status, stdout]).toEqual([2, ''])
      expect(stderr).toBe(`${folder.at('nope.yaml')}: does not exist (named by --config)\n`)
    }
  })

  it('a marquee.yaml here that is a link to nothing, or to itself: the sample is not served in its place', async () => {
    using folder = new WorkFolder()
    for (const [target, says] of [
      ['moved.yaml', 'is a symbolic link to a file that does not exist'],
      ['marquee.yaml', 'cannot be read: it is a symbolic link to itself'],
    ] as const) {
      symlinkSync(target, folder.at('marquee.yaml'))
      for (const { status, stdout, stderr } of await Promise.all(
        each.map((args) => runCommand(args, { cwd: folder.path })),
      )) {
        expect([status, stdout]).toEqual([2, ''])
        expect(stderr).toBe(`${folder.at('marquee.yaml')}: ${says} (found here)\n`)
      }
      unlinkSync(folder.at('marquee.yaml'))
    }
  })

  it('one that MARQUEE_CONFIG names, a directory, bytes that are no text, broken YAML', async () => {
    using folder = new WorkFolder({ 'bin.yaml': Uint8Array.of(0, 255, 254), 'broken.yaml': 'crm: [\n' })
    const cases = [
      ['nope.yaml', 'does not exist (named by MARQUEE_CONFIG)'],
      ['.', 'is a directory, not a file (named by MARQUEE_CONFIG)'],
      ['bin.yaml', 'is not UTF-8 (line 1); save it as UTF-8 (named by MARQUEE_CONFIG)'],
      ['broken.yaml', 'is not valid YAML'],
    ] as const
    for (const [name, says] of cases) {
      const end = await runCommand(['check'], { cwd: folder.path, env: { MARQUEE_CONFIG: name } })
      expect([end.status, end.stdout]).toEqual([2, ''])
      expect(end.stderr).toContain(says)
      expect(end.stderr).not.toMatch(STACK)
    }
  })
})
