import { afterEach, beforeEach, describe, expect, it } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { appendFileSync, chmodSync, copyFileSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { runCommand } from '../commands/run-command.ts'
import { ROOT } from '../support/child.ts'
import { type Answer, type Asked, JsonServer } from './json-server.ts'
import { type TestRow, eventRow, idNumbered } from './own-crm.ts'
import { ConnectorFolder, OwnService, SECRET, until } from './own-service.ts'
import { BOTH_RUNTIMES, RUNTIMES } from '../support/depth.ts'

const hasPython = spawnSync('python3', ['--version']).status === 0
if (!hasPython) console.warn('SKIPPED: python3 is missing, so the example in Python is not run')

const FIELDS = `fields: { Id: id, Name: name, Start: starts, Finish: ends, TicketCapacity: seats, TicketsAvailable: sold, Price: null }`
const VENUES = 'venues: { fields: { Id: id, Name: name } }'

let server: JsonServer
let rows: TestRow[] = []

let refusals = 0

const pageOf = ({ path, query, headers }: Asked): Answer => {
  if (headers.authorization !== `Bearer ${SECRET}`) return { status: 401 }
  if (path === '/venues')
    return { json: { data: query.get('page') === '1' ? [{ id: idNumbered(9), name: 'Hall', changed: '' }] : [] } }
  if (query.get('page') === '2' && refusals-- > 0) return { status: 429, headers: { 'retry-after': '1' } }
  const since = query.get('changed_since') ?? ''
  const found = rows.filter(({ changed }) => changed >= since)
  const page = Number(query.get('page'))
  return { json: { data: found.slice((page - 1) * 100, page * 100) } }
}

beforeEach(async () => {
  rows = Array.from({ length: 250 }, (_, index) => eventRow(index + 1))
  server = await JsonServer.open(pageOf)
})

afterEach(() => server.close())

describe.each(hasPython ? RUNTIMES : [])('the example in Python, on %s', (runtime) => {
  it('is read in full despite a 429, by changes and by ids, and is not run in a new version', async () => {
    refusals = 1
    using folder = new ConnectorFolder(
      server,
      {},
      `kind: command
run: [python3, our_crm.py]
events: { ways: [full, since, ids], updatedAt: changed, ${FIELDS} }
${VENUES}`,
      'log: { requests: false }',
    )
    copyFileSync(join(ROOT, 'docs/examples/our_crm.py'), folder.at('our_crm.py'))
    const service = await OwnService.start(runtime, folder, idNumbered(250))
    try {
      expect((await service.status()).lists.events.served).toBe(250)
      expect(await service.status()).toMatchObject({ connector: [{ file: folder.at('our_crm.py') }] })
      rows[1] = eventRow(2, { name: 'changed', changed: '2026-11-02T00:00:00Z' })
      await until(async () => (await service.get(2)).includes('changed'))
      appendFileSync(folder.at('our_crm.py'), '# edited\n')
      await service.says('our_crm.py has changed since the service was started: restart Marquee to use the new file')
      expect(service.bad).toEqual([])
    } finally {
      await service.stop()
    }
  })
})

/** Takes 300 MB bit by bit, and gives signs of life meanwhile: a loaded machine takes seconds for them. */
const GREEDY = `python3 -c "x = [print(flush=True) or b'a' * 2000000 for _ in range(150)]; import time; time.sleep(30)"`

/** A command that does as the first letter of its settings' `mode` says. */
const SHELL = `read -r settings
case "$1 $2" in
'venues full') echo '{"id":"${idNumbered(9)}","name":"Hall"}' ;;
'events full'|'events changes') . ./events.sh "$@" ;;
esac
`

describe('a command', () => {
  async function withCommand(
    script: string,
    sentences: (service: OwnService, folder: ConnectorFolder) => Promise<void>,
    ways = '[full]',
  ): Promise<void> {
    using folder = new ConnectorFolder(
      server,
      { 'crm.sh': SHELL, 'events.sh': `echo '${JSON.stringify(eventRow(1))}'` },
      `kind: command\nrun: [sh, crm.sh]\nmemory: 100MB\nevents: { ways: ${ways}, ${FIELDS} }\n${VENUES}`,
    )
    const service = await OwnService.start('bun', folder, idNumbered(1))
    try {
      folder.write('events.sh', script)
      await sentences(service, folder)
      expect(service.bad).toEqual([])
      expect(service.log).not.toContain(SECRET)
    } finally {
      await service.stop()
    }
  }

  it.each([
    ['exit 0', 'crm.sh printed no row; if the list is empty, it must print #total 0'],
    ['exit 7', 'crm.sh ended with status 7'],
    ['kill -9 $$', 'crm.sh ended with SIGKILL'],
    ['echo "Traceback (most recent call last):"', 'events: no row is a JSON object, such as line 1'],
    // Not withheld as one row: what is cut may be half of the list.
    ['printf "%s" "{\\"id\\":\\"1\\",\\"na"', 'crm.sh, line 1: the output ends here within a row'],
    [
      'echo; printf "%s\\n" "#total five"',
      'crm.sh, line 2: #total takes the number of rows as a whole number, such as #total 250, not',
    ],
    ['echo "#cursor"', 'crm.sh, line 1: #cursor must be followed by a text'],
    ['echo "#lag x"', 'crm.sh, line 1: #lag takes milliseconds as a whole number, such as #lag 250, not'],
    [
      'printf "{\\"id\\":\\"1\\",\\"name\\":\\"Caf\\351\\"}\\n"',
      'crm.sh, line 1: the bytes are not UTF-8; the command must print UTF-8',
    ],
    ['echo "#fail refused the key is over"', 'events: the key is over'],
    ['echo "#fail $settings"', '[secret]'],
    ['echo "$settings" >&2; exit 1', 'crm.sh says: {'],
    ['sleep 60', 'crm.sh printed nothing for 3 s, and was ended'],
    ['sleep 60 &', 'for 3 s, and has ended, but a program that it started keeps its output open'],
    [`echo '#strange 1'; echo '${JSON.stringify(eventRow(1))}'`, 'the unknown control line #strange, which is ignored'],
    [`exec ${GREEDY}`, 'more than crm.memory, and was ended'],
  ])('that does %s is told of, and costs no caller anything', async (script, sentence) => {
    await withCommand(script, (service) => service.says(sentence))
  })

  it('is shown by check --trace with what it is started with and the beginning of its output', async () => {
    const script = `printf '%s\\n' '${JSON.stringify(eventRow(1))}'`
    const kind = `kind: command\nrun: [sh, crm.sh]\nevents: { ${FIELDS} }\n${VENUES}`
    using folder = new ConnectorFolder(server, { 'crm.sh': SHELL, 'events.sh': script }, kind)
    const { status, stderr } = await runCommand(['check', '--trace', '--config', folder.configuration])
    expect(status).toBe(0)
    expect(stderr).toContain(`> sh crm.sh events full\n< {"id":"${idNumbered(1)}","name":"event 1",`)
  })

  it('shows no part of its secret, cut in the middle of its output or of its reason', async () => {
    // The first half of the secret is printed by itself, as a buffer of the command may end there.
    const half = SECRET.length / 2
    const reason = `${'x'.repeat(390)}${SECRET}`
    const script = `printf '{"id":"1","key":"${SECRET.slice(0, half)}'; sleep 0.3; printf '${SECRET.slice(half)}"}\\n#fail broken ${reason}\\n'`
    const kind = `kind: command\nrun: [sh, crm.sh]\nevents: { ${FIELDS} }\n${VENUES}`
    using folder = new ConnectorFolder(server, { 'crm.sh': SHELL, 'events.sh': script }, kind)
    const { status, stdout, stderr } = await runCommand(['check', '--trace', '--config', folder.configuration])
    expect([status, stderr.includes('< …'), stdout.includes('xxxxx') || stderr.includes('xxxxx')]).toEqual([
      1,
      true,
      true,
    ])
    expect(stdout + stderr).not.toContain(`x${SECRET.slice(0, 3)}`)
    expect(stdout + stderr).not.toContain(SECRET.slice(0, half))
  })

  it('may begin its output with a byte order mark', async () => {
    const row = JSON.stringify(eventRow(1, { name: 'after a mark' }))
    await withCommand(`printf '\\357\\273\\277%s\\n' '${row}'`, (service) =>
      until(async () => (await service.get(1)).includes('after a mark')),
    )
  })

  it.each(BOTH_RUNTIMES)('whose program is missing is told as such, on %s', async (runtime) => {
    const kind = `kind: command\nrun: [no-such-program, crm.sh]\nevents: { ${FIELDS} }\n${VENUES}`
    using folder = new ConnectorFolder(server, { 'crm.sh': SHELL }, kind)
    const { status, stderr } = await runCommand(['check', '--config', folder.configuration], { runtime })
    expect(status).toBe(1)
    expect(stderr).toContain(
      'crm.sh could not be started (ENOENT): check that no-such-program, the first word of crm.run, is a program in PATH that Marquee may execute',
    )
  })

  it.each([
    [
      'ENOEXEC',
      './plain.sh',
      'the first word of crm.run, is a program, or begins with #! and the program that runs it',
    ],
    ['E2BIG', `sh, ${'x'.repeat(200_000)}`, 'could not be started (E2BIG)\n'],
  ])('that cannot be started is told of with advice that fits: %s', async (code, words, sentence) => {
    const kind = `kind: command\nrun: [${words}]\nevents: { ${FIELDS} }\n${VENUES}`
    using folder = new ConnectorFolder(server, { 'plain.sh': 'exit 0\n' }, kind)
    chmodSync(folder.at('plain.sh'), 0o755)
    const { status, stderr } = await runCommand(['check', '--config', folder.configuration])
    expect(status).toBe(1)
    expect(stderr).toContain(`could not be started (${code})`)
    expect(stderr).toContain(sentence)
  })

  it.each(RUNTIMES)('%s: withholds the lines that are no rows, and tells their numbers', async (runtime) => {
    const lines = [eventRow(1), eventRow(3)].map((row) => JSON.stringify(row))
    const script = `[ "$1" = venues ] && echo '#total 0' && exit
echo '#lag 0'; echo '${lines[0]}'; echo 'Warning: old'; echo '{"id": "2", "name": NaN}'; echo; echo '[1]'; echo '${lines[1]}'`
    const kind = `kind: command\nrun: [sh, junk.sh]\nevents: { ${FIELDS} }\n${VENUES}`
    using folder = new ConnectorFolder(server, { 'junk.sh': script }, kind)
    const { stdout } = await runCommand(['check', '--json', '--config', folder.configuration], { runtime })
    const report = JSON.parse(stdout) as { events: number; withheld: { where: string; reason: string }[] }
    expect(report.events).toBe(2)
    expect(report.withheld.map(({ where }) => where)).toEqual(['events, line 3', 'events, line 4', 'events, line 6'])
    expect(report.withheld[1]?.reason).toBe('is not valid JSON (line 4: expected a value)')
  })

  it('may be a program of any size', async () => {
    const kind = `kind: command\nrun: [./big]\nevents: { ${FIELDS} }\n${VENUES}`
    const script = `#!/bin/sh\n[ "$1" = venues ] && echo '#total 0' || echo '${JSON.stringify(eventRow(1))}'\nexit\n`
    using folder = new ConnectorFolder(server, { big: script }, kind)
    truncateSync(folder.at('big'), 200_000_000)
    chmodSync(folder.at('big'), 0o755)
    const { stdout, stderr } = await runCommand(['check', '--config', folder.configuration])
    expect(stderr).not.toContain('16 MB')
    expect(stdout).toContain('1 event and 0 venues')
  })

  it('needs updatedAt for since', async () => {
    const kind = `kind: command\nrun: [sh, crm.sh]\nevents: { ways: [full, since], ${FIELDS} }\n${VENUES}`
    using folder = new ConnectorFolder(server, { 'crm.sh': SHELL }, kind)
    const { stderr } = await runCommand(['check', '--config', folder.configuration])
    expect(stderr).toContain('crm.events.updatedAt is missing; since needs it')
  })

  it('may print an empty list only by saying so', async () => {
    await withCommand('echo "#total 0"', async (service) => {
      await until(
        async () =>
          JSON.stringify(await service.status()).includes('"shrunk":{') ||
          (await service.status()).lists.events.served === 0,
      )
      service.bad.length = 0
    })
  })

  const RENAMED = `echo '${JSON.stringify({ ...eventRow(2), name: 'renamed' })}';`
  it.each([
    ['a row that was deleted', ''],
    ['a row that was renamed and then deleted', RENAMED],
  ])('that gives a cursor at the end of a full read is asked for changes from then on: %s', async (_, before) => {
    const script = `if [ "$2" = changes ]; then echo "$2 $3" >> asked; ${before} echo '#deleted ${idNumbered(2)}'; echo '#cursor c2'
else echo '${JSON.stringify(eventRow(1))}'; echo '${JSON.stringify(eventRow(2))}'; echo '#cursor c1'; fi`
    await withCommand(script, async (service, folder) => {
      await until(async () => folder.read('asked').includes('c2'))
      expect(folder.read('asked').split('\n').slice(0, 2)).toEqual(['changes c1', 'changes c2'])
      await until(async () => (await service.status()).lists.events.served === 1)
    })
  })
})
