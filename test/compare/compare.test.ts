import { afterAll, beforeAll, describe, expect, it } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { runCommand, startCommand } from '../commands/run-command.ts'
import { WorkFolder } from '../commands/work-folder.ts'
import { Child, programOf, ROOT } from '../support/child.ts'
import { BOTH_RUNTIMES } from '../support/depth.ts'
import { PATIENCE_MS } from '../support/eventually.ts'
import { installedProgram } from '../support/installed-program.ts'
import { serve } from '../support/marquee-process.ts'
import type { Fault, OldService } from './old-service.ts'
import { FAULTS, listsOfRecords, oldRecords, startOldService, ZONE } from './old-service.ts'

const CONFIGURATION = `timeZone: ${ZONE}
representation: { namespace: EventsApi }
operations: null
listen: { port: 0 }
freshness: { maxAge: 1s, refreshEvery: 300ms }
crm: { kind: files, directory: ./crm }
`
const RECORDS = oldRecords()
const FIRST = RECORDS.find(({ name }) => name === 'a1-event-full')?.id ?? ''

interface Difference {
  readonly class: string
  readonly what: string
  readonly at: string
  readonly count: number
  readonly example: { readonly path: string; readonly accept: string; readonly old: string; readonly new: string }
}

interface Report {
  readonly asked: number
  readonly counts: Readonly<Record<string, number>>
  readonly differences: readonly Difference[]
  readonly verdict: string
}

let folder: WorkFolder
beforeAll(() => {
  const { events, venues } = listsOfRecords()
  folder = new WorkFolder({
    'marquee.yaml': CONFIGURATION,
    'crm/events.json': events,
    'crm/venues.json': venues,
    'one.txt': `${FIRST}\n`,
  })
})
afterAll(() => folder[Symbol.dispose]())

/** Runs `compare --json` against an old service with faults. */
async function compared(
  faults: readonly (string | Fault)[],
  args: readonly string[],
  runtime: 'bun' | 'node' = 'bun',
): Promise<{ readonly status: unknown; readonly stderr: string; readonly report: Report; readonly old: OldService }> {
  const old = await startOldService(
    faults.map((fault) => (typeof fault === 'string' ? (FAULTS[fault] ?? (() => {})) : fault)),
  )
  try {
    const all = ['compare', old.address, '--json', '--rate', '2000/s', ...args]
    const { status, stdout, stderr } = await runCommand(all, { cwd: folder.path, runtime })
    return { status, stderr, report: JSON.parse(stdout === '' ? '{}' : stdout) as Report, old }
  } finally {
    await old.close()
  }
}

/** The differences but for those that are intended or keep the meaning, as `class: what at path × count`. */
function told({ differences }: Report, classes: readonly string[] = ['different', 'changing']): readonly string[] {
  return differences
    .filter((found) => classes.includes(found.class))
    .map(({ class: kind, what, at, count }) => `${kind}: ${what} at ${at} × ${count}`)
}

describe('marquee compare with a service as the reference wrote it', () => {
  it.each(BOTH_RUNTIMES)(
    'finds nothing different, and every departure of contract 3.3 by its name, on %s',
    async (runtime) => {
      const { status, report, stderr } = await compared([], ['--all'], runtime)
      expect([status, stderr]).toEqual([0, ''])
      expect(told(report)).toEqual([])
      expect(report.differences.map(({ what }) => what).toSorted()).toEqual(
        [
          'errors are problem details',
          'HEAD is allowed',
          'HAL XML without a byte order mark',
          'HAL XML with a charset',
          'HAL XML links begin with / instead of ~/',
          'HAL XML links have their title',
          'HAL XML has null fields, empty',
          'HAL JSON has null fields',
          'characters that XML cannot carry are replaced',
          'CR is kept in XML',
        ].toSorted(),
      )
      const sum = Object.values(report.counts).reduce((total, count) => total + count, 0)
      // 47 records, two unknown and four malformed ids; nine paths of one id in other spellings; HEAD three times.
      expect([report.asked, sum]).toEqual([(53 * 3 + 9) * 6 + 3, report.asked])
      expect(report.verdict).toStartWith('Nothing is different in 1,011 answers (')
    },
  )

  it('answers alike through a running Marquee', async () => {
    const running = await serve('bun', folder.at('marquee.yaml'))
    const { status, report } = await compared([], ['--all', '--against', running.listening.address])
    await running.child.stop()
    expect([status, told(report)]).toEqual([0, []])
    expect(report.asked).toBe(1011)
  })
})

describe('a fault that is planted in one record', () => {
  const cases: readonly (readonly [fault: string, told: readonly string[]])[] = [
    ['offset', ['different: another offset at /Start × 5']],
    ['float', ['different: rounded as a float at /Price × 6']],
    [
      'link',
      [
        'different: only here at /_links/1 × 2',
        'different: only here at /Links/Link/1 × 2',
        'different: only here at /_links/venue × 1',
        'different: only here at /link × 1',
      ],
    ],
    ['order', ['different: another order of elements at / × 3', 'sameMeaning: order of members at / × 3']],
    ['space', ['sameMeaning: white space at / × 6']],
    ['mark', ['different: byte order mark at / × 5']],
    ['charset', ['different: charset missing at Content-Type × 5']],
    ['withheld', ['different: another status: 404, here 200 at status × 6']],
    ['noEtag', ['different: missing ETag at ETag × 6']],
    ['broken', ['different: another status: 500, here 200 at status × 6']],
    ['changes', ['changing: another number at /TicketsAvailable × 6']],
    ['restless', ['changing: another text at /Name × 6']],
    ['login', ['different: a redirect at status × 6']],
    ['loginPage', ['different: another media type at Content-Type × 6']],
    ['slow', []],
    ['etag', []],
    ['gzip', []],
    ['busy', []],
  ]
  const runs = new Map<string, Awaited<ReturnType<typeof compared>>>()

  // Most of the time they wait to ask again.
  beforeAll(async () => {
    for (let from = 0; from < cases.length; from += 6) {
      const some = cases.slice(from, from + 6).map(async ([fault]) => {
        runs.set(fault, await compared([fault], ['--ids', folder.at('one.txt')]))
      })
      await Promise.all(some)
    }
  }, PATIENCE_MS)

  it.each(cases.map(([fault, expected]) => [fault, expected] as const))('%s', (fault, expected) => {
    const run = runs.get(fault)
    expect(run && told(run.report, ['different', 'changing', 'sameMeaning'])).toEqual([...expected])
    expect(run?.status).toBe(expected.some((line) => line.startsWith('different')) ? 1 : 0)
  })
})

describe('what marquee compare asks', () => {
  it('asks each id at three endpoints in six types, with unknown, malformed and otherwise spelt ids, and with another seed others', async () => {
    const { old } = await compared([], ['--ids', folder.at('one.txt')])
    const { old: again } = await compared([], ['--ids', folder.at('one.txt')])
    const { old: other } = await compared([], ['--ids', folder.at('one.txt'), '--seed', '2'])
    const [paths, samePaths, otherPaths] = [old, again, other].map(({ seen }) => new Set(seen.map(({ path }) => path)))
    expect(samePaths).toEqual(paths)
    expect([...(otherPaths ?? [])].filter((path) => paths?.has(path) !== true).length).toBe(6)
    for (const path of [`/api/events/${FIRST}`, `/api/events/${FIRST}/venue`, `/api/venues/${FIRST}`]) {
      const types = old.seen
        .filter((call) => call.path === path && call.method === 'GET')
        .map(({ headers }) => headers.accept)
      expect(types.length).toBe(6)
      expect(new Set(types).size).toBe(6)
    }
    for (const path of [
      '/api/events/null',
      '/api/venues/x',
      `/api/events/${FIRST.toUpperCase()}`,
      `/events/${FIRST}/venue`,
    ]) {
      expect(paths?.has(path)).toBe(true)
    }
  })

  it('asks for withheld ids too, and finds an event that only one of the services shows', async () => {
    const rows = JSON.parse(listsOfRecords().events) as { Id: string; ShowOnWeb: boolean }[]
    const hidden = JSON.stringify(rows.map((row) => (row.Id === FIRST ? { ...row, ShowOnWeb: false } : row)))
    using other = new WorkFolder({
      'marquee.yaml': CONFIGURATION,
      'crm/events.json': hidden,
      'crm/venues.json': listsOfRecords().venues,
    })
    const { status, report } = await compared(
      [],
      ['--all', '--config', other.at('marquee.yaml'), '--accept', 'application/json'],
    )
    expect([status, told(report)]).toEqual([1, ['different: another status: 200, here 404 at status × 2']])
    const [found] = report.differences
    expect([found?.example.path.toLowerCase().includes(FIRST), found?.example.old, found?.example.new]).toEqual([
      true,
      '200',
      '404',
    ])
  })

  const combined = (path: string, further = '', method = 'GET'): string =>
    `203.0.113.7 - alice [10/Oct/2036:13:55:36 +0000] "${method} ${path} HTTP/1.1" 200 512 "https://ref.example/?session=1" "Mozilla/5.0 (secret agent)"${further}`

  it('asks the paths and types of an access log once each, weighs them, and lets nothing personal out of it', async () => {
    const wrong = RECORDS.find(({ name, kind }) => kind === 'event' && name === 'h-01-midnight')?.id ?? ''
    const lines = [
      ...Array.from({ length: 7 }, () => combined(`/api/events/${FIRST}?token=hunter2`, ' "text/xml"')),
      combined(`/api/events/${wrong}`, ' "application/json"'),
      combined(`/API/Events/%7B${FIRST.toUpperCase()}%7D/`, ' "text/xml;q=0, application/json;q=0.5"'),
      combined(`/api/events/${FIRST}`, ' "application/hal+json"', 'HEAD'),
      combined('/favicon.ico'),
      combined(`/api/events/${FIRST}`, '', 'POST'),
      'no request at all',
    ]
    const price: Fault = (answer, { record }) => {
      if (record?.id === wrong)
        answer.body = Buffer.from(answer.body.toString().replace(/"Price":[\d.]+/, '"Price":99'))
    }
    for (const [name, content] of [
      ['access.log', lines.join('\n')],
      ['access.log.gz', gzipSync(lines.join('\n'))],
    ] as const) {
      folder.write(name, content)
      const { status, report, stderr, old } = await compared(
        [price],
        ['--log', folder.at(name), '--report', folder.at('log.html')],
      )
      expect([status, told(report), report.asked]).toEqual([1, ['different: another number at /Price × 1'], 4])
      expect(report.verdict).toContain('90% of the requests in the log get the same answer')
      expect(stderr).toContain(
        '10 requests for events and venues; 2 other requests and 1 line that cannot be read are left out',
      )
      expect(stderr).toContain('7 requests had a query, which is not asked')
      expect(old.seen.map(({ method, path }) => `${method} ${path}`)).toContain(
        `GET /API/Events/%7B${FIRST.toUpperCase()}%7D/`,
      )
      expect(old.seen.some(({ method }) => method === 'HEAD')).toBe(true)
      expect(report.differences.map(({ what }) => what)).toContain('q=0 excludes a type')
      const out = JSON.stringify([report, stderr, old.seen, readFileSync(folder.at('log.html'), 'utf8')])
      for (const secret of ['hunter2', '203.0.113', 'alice', 'secret agent', 'session=1'])
        expect(out).not.toContain(secret)
    }
  })

  it('reads W3C logs by their fields, and asks a request of an unknown type in all six', async () => {
    const log = [
      '#Software: Microsoft Internet Information Services 10.0',
      '#Fields: date time cs-uri-stem cs-method c-ip cs(Accept) cs-uri-query sc-status',
      `2036-10-10 13:55:36 /api/events/${FIRST} GET 203.0.113.7 text/xml;+q=0.5,+text/json - 200`,
      `2036-10-10 13:55:36 /api/events/${FIRST} GET 203.0.113.7 - - 200`,
      '#Fields: cs-method cs-uri-stem',
      `GET /api/venues/${FIRST}`,
    ]
    folder.write('u_ex.log', log.join('\r\n'))
    const { report, old } = await compared([], ['--log', folder.at('u_ex.log')])
    expect(report.asked).toBe(13)
    expect(old.seen.map(({ headers }) => headers.accept)).toContain('text/xml; q=0.5, text/json')
  })
})

describe('the manners of marquee compare', () => {
  it('keeps to the rate and to two connections, and sends GET and HEAD alone', async () => {
    const { old } = await compared(['slow'], ['--ids', folder.at('one.txt'), '--rate', '100/s'])
    expect(old.mostConnections()).toBe(2)
    expect(new Set(old.seen.map(({ method }) => method))).toEqual(new Set(['GET', 'HEAD']))
    const times = old.seen.map(({ atMs }) => atMs)
    expect(((times.at(-1) ?? 0) - (times[0] ?? 0)) / (times.length - 1)).toBeGreaterThan(9.5)
  })

  it('sends the fields of --header-file to the old service alone, and shows them nowhere', async () => {
    folder.write('headers.txt', 'Authorization: Bearer hunter2\nX-Key: hunter3\n')
    const against = await startOldService()
    const args = [
      '--ids',
      folder.at('one.txt'),
      '--against',
      against.address,
      '--header-file',
      folder.at('headers.txt'),
    ]
    const { report, stderr, old } = await compared(
      ['login'],
      [...args, '--report', folder.at('r.html'), '--resume', folder.at('headers.jsonl')],
    )
    await against.close()
    expect(
      old.seen.every(({ headers }) => headers.authorization === 'Bearer hunter2' && headers['x-key'] === 'hunter3'),
    ).toBe(true)
    expect(
      against.seen.every(({ headers }) => headers.authorization === undefined && headers['x-key'] === undefined),
    ).toBe(true)
    const out = JSON.stringify([
      report,
      stderr,
      readFileSync(folder.at('r.html'), 'utf8'),
      readFileSync(folder.at('headers.jsonl'), 'utf8'),
    ])
    expect(out).not.toMatch(/hunter|token=secret/)
    expect(out).toContain('302 to https://login.example.org/')
  })

  it('stops after 20 answers in a row that cannot be used, and says so', async () => {
    const { status, report, stderr, old } = await compared(['down'], ['--all'])
    expect([status, report.counts['different']]).toEqual([1, 0])
    expect(stderr).toContain('Stopped: 20 answers of http://127.0.0.1:')
    expect(stderr).toContain('(the last one was 503)')
    expect(report.verdict).toStartWith('Not finished, 0 of 1,011 comparisons made: ')
    expect(old.seen.length).toBeLessThanOrEqual(63)
  })
})

it.skipIf(installedProgram('script') === null)(
  'marquee compare shows on a terminal how far it is, and leaves the report alone',
  async () => {
    const old = await startOldService()
    const command = [
      programOf('bun'),
      join(ROOT, 'src/main.ts'),
      'compare',
      old.address,
      '--ids',
      'one.txt',
      '--rate',
      '150/s',
    ].join(' ')
    const terminal = new Child('script', ['-qefc', command, '/dev/null'], {
      cwd: folder.path,
      env: { TERM: 'xterm', COLUMNS: '120' },
    })
    expect(await terminal.exited).toBe(0)
    await old.close()
    const drawn = terminal.stdout.split('\r\u001b[K')
    expect(drawn.filter((line) => /^#+\.+ \d+ answers? of 183, 0 different, /.test(line)).length).toBeGreaterThan(2)
    expect(drawn.at(-1)).toStartWith('   ')
    expect(drawn.at(-1)).toContain('Nothing is different in 183 answers (')
  },
)

describe('marquee compare that is interrupted', () => {
  it.each(BOTH_RUNTIMES)(
    'says what there is so far at Ctrl-C, and goes on with --resume until all is asked once, on %s',
    async (runtime) => {
      const resume = folder.at(`run-${runtime}.jsonl`)
      const old = await startOldService([FAULTS['float'] ?? (() => {})])
      const args = [
        'compare',
        old.address,
        '--all',
        '--json',
        '--resume',
        resume,
        '--accept',
        'application/json',
        '--rate',
      ]
      const first = startCommand([...args, '50/s'], { cwd: folder.path, runtime })
      while (old.seen.length < 40) await Bun.sleep(10)
      first.signal('SIGINT')
      expect(await first.exited).toBe(1)
      const partly = JSON.parse(first.stdout) as Report
      expect(partly.verdict).toStartWith('Not finished, ')
      expect(first.stderr).toContain('goes on from here')
      // The process was killed while it wrote.
      writeFileSync(resume, `${readFileSync(resume, 'utf8')}["GET","/api/ev`)
      const asked = old.seen.length
      const second = await runCommand([...args, '2000/s'], { cwd: folder.path, runtime })
      const whole = JSON.parse(second.stdout) as Report
      expect([second.status, whole.asked, told(whole)]).toEqual([
        1,
        171,
        ['different: rounded as a float at /Price × 1'],
      ])
      expect(old.seen.length - asked).toBeLessThanOrEqual(171 - partly.asked + 1)
      const third = await runCommand([...args, '2000/s'], { cwd: folder.path, runtime })
      await old.close()
      expect(JSON.parse(third.stdout)).toEqual(whole)
    },
  )
})

describe('wrong usage of marquee compare ends with 2 and one sentence', () => {
  const OLD = 'http://127.0.0.1:1'
  it.each<[args: readonly string[], says: RegExp]>([
    [[OLD], /name what to ask: one of --all, --ids FILE or --log FILE/],
    [[OLD, '--all', '--ids', 'one.txt'], /name what to ask/],
    [['old.example.org', '--all'], /the address of a service is expected, such as/],
    [['ftp://old.example.org', '--all'], /the address of a service is expected/],
    [['https://me:hunter2@old.example.org', '--all'], /the address of old\.example\.org holds credentials/],
    [[OLD, '--all', '--rate', 'fast'], /--rate fast: a rate such as 5\/s or 30\/min is expected/],
    [[OLD, '--all', '--rate', '0/s'], /a rate such as/],
    [[OLD, '--all', '--seed', 'x'], /A whole number is expected/],
    [[OLD, '--ids', 'missing.txt'], /missing\.txt cannot be read or written \(ENOENT\)/],
    [[OLD, '--ids', 'blank.txt'], /blank\.txt has no ids/],
    [[OLD, '--log', 'blank.txt'], /blank\.txt is empty/],
    [[OLD, '--log', 'one.txt'], /one\.txt has no request for an event or a venue/],
    [[OLD, '--all', '--report', 'no/such/folder.html'], /cannot be written \(ENOENT\)/],
    [[OLD, '--all', '--header-file', 'wrong.txt'], /wrong\.txt, line 2: a header field is expected/],
    [[OLD, '--all', '--header-file', 'accept.txt'], /accept\.txt, line 1: Accept cannot be set/],
    [[OLD, '--all', '--resume', 'one.txt'], /one\.txt has no outcomes of marquee compare/],
    [[OLD, '--all', '--config', 'nope.yaml'], /nope\.yaml: does not exist/],
  ])('%p', async (args, says) => {
    folder.write('blank.txt', '\n')
    folder.write('wrong.txt', 'X-Key: 1\nhunter2\n')
    folder.write('accept.txt', 'Accept: text/xml\n')
    const { status, stdout, stderr } = await runCommand(['compare', ...args], { cwd: folder.path })
    expect([status, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(says)
    expect(stderr).toMatch(/^[^\n]+\n$/)
    expect(stderr).not.toContain('hunter2')
  })

  it('a CRM that cannot be read ends it with 1, and a Marquee that does not answer, too', async () => {
    using empty = new WorkFolder({ 'marquee.yaml': CONFIGURATION })
    const unread = await runCommand(['compare', OLD, '--all'], { cwd: empty.path })
    expect(unread.status).toBe(1)
    expect(unread.stderr).toContain('the events could not be read: ')
    const absent = await runCommand(['compare', OLD, '--ids', 'one.txt', '--against', 'http://127.0.0.1:1'], {
      cwd: folder.path,
    })
    expect(absent.status).toBe(1)
    expect(absent.stderr).toContain('--against: 127.0.0.1:1 refused the connection')
  })
})
