import type { CrmSettings } from '../config/configuration.ts'
import { printable } from '../observe/printable.ts'
import type { Asides, Report, WithheldReport } from './check-report.ts'
import { NOTHING_READ, reportOf } from './check-report.ts'
import { loadFound } from './configuration.ts'
import { systemTime } from '../replica/time.ts'
import type { CrmRead } from './assemble.ts'
import { readCrm } from './assemble.ts'
import type { Surroundings } from './surroundings.ts'
import { ANSWER_IS_NO, FINE, WRONG_USAGE } from './surroundings.ts'
import { columnsRead } from '../crm/files/list-file.ts'
import type { Withheld, WithheldFault } from '../domain/withheld.ts'

/** Reads the configuration and the CRM once, serves nothing, and tells what would be served and what not. */
export async function check(
  { config, json = false }: { readonly config?: string; readonly json?: boolean },
  surroundings: Surroundings,
): Promise<number> {
  const found = await loadFound(config, surroundings)
  if (!found.ok) {
    if (json) await answerJson({ ...NOTHING_READ, warnings: [], problems: found.problems }, surroundings)
    else for (const problem of found.problems) surroundings.error(problem)
    return WRONG_USAGE
  }
  if (!json) surroundings.out(`Checking ${printable(found.from)}.`)
  const crm = await readCrm(found.configuration)
  const settings = found.configuration.crm
  const report = reportOf(crm, [...found.warnings, ...crm.warnings], settings)
  if (!json) {
    printReport(report, settings, surroundings)
    const line = notYetOverLine(crm)
    if (line !== null) surroundings.out(line)
  } else if (!(await answerJson(report, surroundings))) return ANSWER_IS_NO
  if (crm.failures.some(({ failure }) => failure.kind === 'misconfigured')) return WRONG_USAGE
  return report.ok ? FINE : ANSWER_IS_NO
}

/** What `/api/events` would begin with; null where lists are off. */
function notYetOverLine({ marquee: { replica } }: CrmRead): string | null {
  const { index, served } = replica.events.list
  if (index === null) return null
  const count = index.countFrom(systemTime.now().wallMs)
  return `Not yet over, and so in /api/events: ${count.toLocaleString('en')} of ${served.toLocaleString('en')}.`
}

async function answerJson(
  { ok, events, venues, withheld, ignored, warnings, problems }: Report,
  { answer }: Surroundings,
): Promise<boolean> {
  return answer(JSON.stringify({ ok, events, venues, withheld, ignored, warnings, problems }))
}

/** Rows with one and the same fault in one column: so many are shown to a person, and all of them in `--json`. */
const MOST_ALIKE = 10
const MOST_GROUPS = 40

/** Faults that are no mistake: the CRM says that the row is not for the web. */
const ON_PURPOSE: ReadonlySet<WithheldFault> = new Set(['inactive', 'not-shown'])

/** Tells a report to a person: what is wrong as a whole, the sum, then row by row, mistakes first. */
function printReport(
  report: Report & Asides,
  crm: CrmSettings,
  { out, error }: Pick<Surroundings, 'out' | 'error'>,
): void {
  const { ok, events, venues, withheld, warnings, problems, rows, ignoredOf } = report
  for (const problem of problems) error(printable(problem))
  for (const warning of warnings) error(`warning: ${printable(warning)}`)
  for (const [list, columns] of ignoredOf) {
    const names = columns.map((column) => JSON.stringify(column)).join(', ')
    out(printable(`Ignored in the ${list}: ${names}. Read are ${columnsRead(crm, list).columns.join(', ')}.`, 4000))
  }
  const not = withheld.length === 0 ? '' : `, ${counted(withheld.length, 'row')} would not`
  out(`${counted(events, 'event')} and ${counted(venues, 'venue')} would be served${not}.`)
  if (!ok) out('Until both lists can be read, `marquee serve` answers 502 for what is missing.')
  const all = withheld.flatMap((row): Row[] => {
    const found = rows.get(row)
    return found === undefined ? [] : [[row, found]]
  })
  printRows(
    'To correct',
    all.filter((row) => !isOnPurpose(row)),
    out,
  )
  printRows('Withheld because the CRM says so', all.filter(isOnPurpose), out)
}

type Row = readonly [WithheldReport, Withheld]

function isOnPurpose([, { fault }]: Row): boolean {
  return ON_PURPOSE.has(fault)
}

function printRows(title: string, rows: readonly Row[], out: (line: string) => void): void {
  if (rows.length === 0) return
  out(`\n${title} (${grouped(rows.length)}):`)
  const alike = new Map<string, WithheldReport[]>()
  for (const [row, { fault, column }] of rows) {
    const key = `${row.kind} ${fault} ${column}`
    const group = alike.get(key)
    if (group === undefined) alike.set(key, [row])
    else group.push(row)
  }
  let shown = 0
  for (const group of [...alike.values()].slice(0, MOST_GROUPS)) {
    for (const row of group.slice(0, MOST_ALIKE)) out(rowLine(row))
    const more = group.length - MOST_ALIKE
    if (more > 0) out(`  … and ${grouped(more)} more like these: \`marquee check --json\` lists them all.`)
    shown += group.length
  }
  if (shown < rows.length)
    out(`  … and ${grouped(rows.length - shown)} others: \`marquee check --json\` lists them all.`)
}

function rowLine({ kind, where, id, reason, remedy }: WithheldReport): string {
  return printable(`- ${where}: the ${kind}${id === null ? '' : ` ${id}`} ${reason}. ${remedy}`)
}

function counted(count: number, one: string): string {
  return `${grouped(count)} ${one}${count === 1 ? '' : 's'}`
}

function grouped(count: number): string {
  return count.toLocaleString('en')
}
