import { afterEach, beforeEach, expect, it } from 'bun:test'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from '../commands/run-command.ts'
import { programOf, ROOT, type Runtime } from '../support/child.ts'
import { type SheetCell, workbook } from '../support/workbook-file.ts'
import { RUNTIMES } from '../support/depth.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'marquee-bounds-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const MOST_MB = 250

/** Runs init, and says how much memory it took at most, and how much processor time. */
async function proposed(file: string, runtime: Runtime = 'bun') {
  const args = ['init', 'files', '--from', file]
  const child = Bun.spawn([programOf(runtime), join(ROOT, 'src/main.ts'), ...args], { cwd: folder, stdout: 'ignore' })
  const status = await child.exited
  const { maxRSS = Infinity, cpuTime } = child.resourceUsage() ?? {}
  return { status, memoryMB: maxRSS / 1e6, processorS: Number(cpuTime?.total ?? Infinity) / 1e6 }
}

const NAMES = Array.from({ length: 6000 }, (_, index) => `n${index}`)

it.each([
  ['names.json', () => JSON.stringify(NAMES.map((name) => ({ [name]: 1 })))],
  ['names.ndjson', () => NAMES.map((name) => JSON.stringify({ [name]: 1 })).join('\n')],
  ['names.csv', () => `${NAMES.join(',')}\n${'1\n'.repeat(6000)}`],
  ['cells.csv', () => `Nr${','.repeat(100_000)}\n${`1${','.repeat(100_000)}\n`.repeat(20)}`],
  ['names.xlsx', () => workbook([{ name: 'x', rows: [NAMES, ...NAMES.slice(0, 2000).map((name) => [name])] }])],
])('init looks at many rows and many names in bounded memory: %s', async (file, write) => {
  writeFileSync(join(folder, file), write())
  const { status, memoryMB } = await proposed(file)
  expect(status).toBe(0)
  expect(memoryMB).toBeLessThan(MOST_MB)
})

function events(count: number): string {
  const rows = Array.from({ length: count }, (_, index) => {
    const time = new Date(Date.UTC(2036, 0, 1) + index * 60_000).toISOString().slice(0, 16)
    return `${index},Title ${index},${time},${index === 59_999 ? '' : time.replace('2036', '2037')},1,1,1`
  })
  return `Nr,Title,Start,End,Seats,Available,Price\n${rows.join('\n')}\n`
}

it('examines every cell of a season of 60,000 events', async () => {
  writeFileSync(join(folder, 'e.csv'), events(60_000))
  const { status, stdout } = await runCommand(['init', 'files', '--from', 'e.csv'], { cwd: folder })
  expect(status).toBe(0)
  expect(stdout).toContain('Finish: 1 row has no end')
  expect(stdout).not.toContain('examined')
  const text = readFileSync(join(folder, 'marquee.yaml'), 'utf8')
  expect(text).toContain('Start: Start   # 60,000 of 60,000 fit')
  expect(text).toContain('Id: Nr   # 60,000 different values; ')
})

it.each([
  ['e.csv', events(100_000), 'e.csv: only the first 71,429 rows and 7 columns were examined', '# 100,000 rows'],
  [
    'names.csv',
    `Start,${NAMES.join(',')}\n2036-01-01 10:00,2\n`,
    'names.csv: only the first 1 row and 2,000 columns were examined',
    '# 1 row',
  ],
])('says what it did not examine: %s', async (file, content, sentence, rows) => {
  writeFileSync(join(folder, file), content)
  const { status, stdout } = await runCommand(['init', 'files', '--from', file], { cwd: folder })
  expect(status).toBe(0)
  expect(stdout).toContain(sentence)
  expect(readFileSync(join(folder, 'marquee.yaml'), 'utf8')).toContain(rows)
})

it.each([
  ['Status', 'scheduled'],
  ['Cancelled', ''],
])('asks which rows are active by %s if other words may stand in rows that it did not examine', async (name, usual) => {
  const activeAmong = async (count: number): Promise<string | undefined> => {
    const rows = events(count)
      .split('\n')
      .map((row, index) => `${row},${index === 0 ? name : index === 9 ? 'cancelled' : usual}`)
    writeFileSync(join(folder, `${count}.csv`), rows.slice(0, -1).join('\n'))
    rmSync(join(folder, 'marquee.yaml'), { force: true })
    expect((await runCommand(['init', 'files', '--from', `${count}.csv`], { cwd: folder })).status).toBe(0)
    return /^ +active: (.*?) {3}#/m.exec(readFileSync(join(folder, 'marquee.yaml'), 'utf8'))?.[1]
  }
  expect(await activeAmong(100)).toMatch(/not: \[cancelled\]|blank/)
  expect(await activeAmong(70_000)).toBe("'?'")
})

it.each(RUNTIMES)('%s: looks at regular files only, and tells a size before it reads', async (runtime) => {
  symlinkSync('/dev/zero', join(folder, 'zero.csv'))
  Bun.spawnSync(['mkfifo', join(folder, 'pipe.csv')])
  mkdirSync(join(folder, 'folder.csv'))
  writeFileSync(join(folder, 'large.csv'), '')
  truncateSync(join(folder, 'large.csv'), 300 * 1024 * 1024)
  const told = async (file: string): Promise<unknown> => {
    const { status, stderr } = await runCommand(['init', 'files', '--from', file], { cwd: folder, runtime })
    return [status, stderr]
  }
  expect(await told('zero.csv')).toEqual([2, 'zero.csv is not a regular file\n'])
  expect(await told('pipe.csv')).toEqual([2, 'pipe.csv is not a regular file\n'])
  expect(await told('folder.csv')).toEqual([2, 'folder.csv is a directory; name a file in it\n'])
  expect(await told('large.csv')).toEqual([
    2,
    'large.csv is 300 MB, and files of at most 256 MB can be examined; try a part of it\n',
  ])
})

it.each(RUNTIMES)(
  '%s: refuses a CSV row that a read would refuse, in the same words and with the same line',
  async (runtime) => {
    writeFileSync(join(folder, 'events.csv'), `Id,Name\n"1\n2",a\n3,"${'b\n'.repeat(140_000)}`)
    writeFileSync(join(folder, 'venues.csv'), 'Id,Name\n1,a\n')
    writeFileSync(join(folder, 'marquee.yaml'), 'crm: { kind: files, directory: . }\n')
    const why = 'line 4: the row that begins here is larger than 256 KB; most likely a quote is not closed'
    const proposal = await runCommand(['init', 'files', '--from', 'events.csv'], { cwd: folder, runtime })
    expect([proposal.status, proposal.stderr]).toEqual([2, `events.csv is not CSV: ${why}\n`])
    const read = await runCommand(['check'], { cwd: folder, runtime })
    expect(read.stderr).toContain(`events.csv, ${why}`)
  },
)

it('leaves out JSON rows that would be withheld as too large', async () => {
  const rows = [
    { Id: 1, Name: 'a' },
    { Id: 2, Name: 'x'.repeat(300_000) },
    { Id: 3, Name: 'c' },
  ]
  writeFileSync(join(folder, 'events.json'), JSON.stringify(rows))
  const { status, stderr } = await runCommand(['init', 'files', '--from', 'events.json'], { cwd: folder })
  expect([status, stderr]).toEqual([0, ''])
  expect(readFileSync(join(folder, 'marquee.yaml'), 'utf8')).toContain('# 2 rows')
})

it('looks only at cells that a sheet has, however far right they are', async () => {
  const far: SheetCell[] = Array.from({ length: 16_384 }, (_, index) => (index === 16_383 ? 'x' : null))
  const head: SheetCell[] = ['Nr', 'Titel', 'Beginn']
  const rows = Array.from({ length: 20_000 }, (_, index): SheetCell[] => (index % 2 === 0 ? [index] : far))
  writeFileSync(join(folder, 'far.xlsx'), workbook([{ name: 'Plan', rows: [head, ...rows] }]))
  for (const runtime of RUNTIMES) {
    rmSync(join(folder, 'marquee.yaml'), { force: true })
    const { status, processorS } = await proposed('far.xlsx', runtime)
    // It took 7 s on a fast machine when it looked at the blank cells too.
    expect({ runtime, status, processorS, isLong: processorS > 4 }).toMatchObject({ status: 0, isLong: false })
  }
})
