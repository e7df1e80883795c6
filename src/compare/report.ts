import { howMany, printable } from '../domain/printable.ts'
import { CLASSES } from './difference.ts'
import type { Group, ComparisonTally } from './tally.ts'
import { type Subject, count, curlOf, fieldLines, shortText, titleOf, verdictOf } from './verdict.ts'

/** Returns the report as one HTML page. */
export async function reportHtml(tally: ComparisonTally, subject: Subject): Promise<string> {
  const { htmlOf } = await import('./report-html.ts')
  return htmlOf(tally, subject)
}

/** Returns the report as one JSON object. */
export function reportJson(tally: ComparisonTally, subject: Subject): string {
  const differences = tally.groups().map((group) => {
    const { path, accept } = group.example.question
    const example = { path, accept, old: shortText(group.old), new: shortText(group.new) }
    return { class: group.class, what: group.what, at: group.at, count: group.count, example }
  })
  const { comparisons, counts } = tally
  return JSON.stringify({ asked: comparisons, counts, differences, verdict: verdictOf(tally, subject) })
}

const MOST_SHOWN = 10

/** Returns the report as lines: the table, the ten most frequent differences, the verdict. */
export function reportLines(tally: ComparisonTally, subject: Subject): readonly string[] {
  const rows = [...tally.table].toSorted(([one], [other]) => (one < other ? -1 : 1))
  const cells = [
    ['', 'asked', ...CLASSES.map(titleOf)],
    ...rows.map(([name, counts]) => {
      const each = CLASSES.map((kind) => counts[kind])
      return [printable(name, 70), count(each.reduce((sum, part) => sum + part, 0)), ...each.map(count)]
    }),
  ]
  const widths = cells[0]?.map((_, column) => Math.max(...cells.map((row) => (row[column] ?? '').length))) ?? []
  const table = cells.map((row) => {
    return row
      .map((cell, index) => (index === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[index] ?? 0)))
      .join('  ')
  })
  const groups = tally.groups()
  const shown = groups.slice(0, MOST_SHOWN).flatMap((group) => ['', ...groupLines(group, subject)])
  const further =
    groups.length > MOST_SHOWN
      ? ['', `${count(groups.length - MOST_SHOWN)} further kinds: see --report or --json.`]
      : []
  return [...table, ...shown, ...further, ...fieldLines(tally), '', verdictOf(tally, subject)]
}

function groupLines(
  { class: kind, what, at, count: times, example, old, new: fresh }: Group,
  subject: Subject,
): readonly string[] {
  const values =
    old === null && fresh === null
      ? []
      : [`  old: ${shortText(old) || '(nothing)'}`, `  new: ${shortText(fresh) || '(nothing)'}`]
  return [
    printable(`${titleOf(kind)}: ${what} at ${at} (${howMany(times, 'answer')})`),
    ...values,
    printable(`  ${curlOf(subject.old, example.question, subject.headerFile)}`),
    printable(`  ${curlOf(subject.new, example.question, null)}`),
  ]
}
