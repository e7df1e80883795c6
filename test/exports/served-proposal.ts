import { expect } from 'bun:test'
import { readFileSync } from 'node:fs'
import { readCrm } from '../../src/app/assemble.ts'
import { loadConfiguration } from '../../src/config/read-configuration.ts'
import type { RecordList } from '../../src/records/record-list.ts'
import { runCommand } from '../commands/run-command.ts'
import { WorkFolder } from '../commands/work-folder.ts'
import { workbook } from '../support/workbook-file.ts'

export type Table = readonly (readonly string[])[]
export type Format = 'csv' | 'xlsx' | 'json'
export const FORMATS: readonly Format[] = ['csv', 'xlsx', 'json']

export function fileOf(format: Format, [names = [], ...rows]: Table): string | Buffer {
  if (format === 'xlsx') return workbook([{ name: 'List', rows: [names, ...rows] }])
  if (format === 'json') {
    return JSON.stringify(rows.map((row) => Object.fromEntries(names.map((name, at) => [name, row[at] ?? '']))))
  }
  return [names, ...rows].map((row) => `${row.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(';')}\n`).join('')
}

/** What is asked of nearly every export. */
export const USUAL: ReadonlySet<string> = new Set([
  'TicketCapacity',
  'TicketsAvailable',
  'Price',
  'showOnWeb',
  'Finish',
])

interface Answers {
  readonly zone?: string | undefined
  /** What a person writes for questions, by key; the usual questions have usual answers. */
  readonly answers?: Readonly<Record<string, string>> | undefined
  readonly from?: readonly string[]
}

interface Served {
  readonly asked: readonly string[]
  readonly text: string
  readonly said: string
  readonly events: readonly object[]
  readonly venues: readonly object[]
}

/** Does what a person does: init, an answer to each question, and a look at what is served. */
export async function served(
  files: Readonly<Record<string, string | Buffer>>,
  { zone, answers = {}, from = Object.keys(files) }: Answers = {},
): Promise<Served> {
  using folder = new WorkFolder(files)
  const args = ['init', 'files', ...from.flatMap((file) => ['--from', file])]
  const { status, stdout, stderr } = await runCommand(args, { cwd: folder.path })
  expect([status, stderr]).toEqual([0, ''])
  const asked: string[] = []
  const text = readFileSync(folder.at('marquee.yaml'), 'utf8')
  const answered = text
    .replace(/^# timeZone: .*$/m, `timeZone: ${zone ?? 'Europe/Berlin'}`)
    .replaceAll(/^( +)(\w+): (.*?) {3}# QUESTION: /gm, (line: string, indent: string, key: string, value: string) => {
      asked.push(key)
      const usual = value.includes('lasting') ? '2h' : value.includes('whenBlank') ? "'1'" : 'null'
      return line.replace(
        `${indent}${key}: ${value}`,
        `${indent}${key}: ${value.replaceAll("'?'", answers[key] ?? usual)}`,
      )
    })
  folder.write('venues.csv', files['venues.csv'] ?? 'Id,Name\n')
  const readFile = (): Promise<Uint8Array> => Promise.reject(new Error('no file is read'))
  const loaded = await loadConfiguration({ path: folder.at('marquee.yaml'), text: answered, env: {}, readFile })
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems))
  const { lists, failures } = await readCrm(loaded.configuration)
  expect(failures).toEqual([])
  const venues = recordsOf(lists.venues.list)
  const places = new Map(venues.map((venue) => [venue.Id, venue.Name]))
  const events = recordsOf(lists.events.list)
    .toSorted((one, other) => (one.Start < other.Start ? -1 : 1))
    .map((event) => ({ ...event, place: places.get(event.VenueId) ?? null }))
  return { asked, text, said: stdout, events, venues }
}

function recordsOf<Item>(list: RecordList<Item>): readonly Item[] {
  return Array.from(list.rows(), (row) => list.read(row)).filter((item) => item !== null)
}
