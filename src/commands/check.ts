import { printable } from '../observe/printable.ts'
import { printReport } from './check-lines.ts'
import type { Report } from './check-report.ts'
import { NOTHING_READ, reportOf } from './check-report.ts'
import { loadFound } from './configuration.ts'
import { systemTime } from '../replica/time.ts'
import type { CrmRead } from './read-crm.ts'
import { readCrm } from './read-crm.ts'
import type { Surroundings } from './surroundings.ts'
import { ANSWER_IS_NO, FINE, WRONG_USAGE } from './surroundings.ts'

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
  const report = reportOf(crm, [...found.warnings, ...crm.warnings])
  if (!json) {
    printReport(report, surroundings)
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
