import { Buffer } from 'node:buffer'
import { howMany, printable } from '../domain/printable.ts'
import { xmlAttribute, xmlText } from '../domain/escape.ts'
import { type ValuePair, CLASSES } from './difference.ts'
import { type Subject, count, curlOf, fieldLines, percent, shortText, titleOf, verdictOf } from './verdict.ts'
import type { Group, ComparisonTally } from './tally.ts'

const LARGEST_EXAMPLES = 1_500_000
const MOST_TABLE_ROWS = 300

/** Returns the report as one HTML page that needs nothing else and is at most 2 MB large. */
export function htmlOf(tally: ComparisonTally, subject: Subject): string {
  const groups = tally.groups()
  const title = `Comparison with ${subject.old}`
  const shown: string[] = []
  let left = LARGEST_EXAMPLES
  for (const group of groups) {
    const part = groupPart(group, subject)
    left -= Buffer.byteLength(part)
    if (left < 0) break
    shown.push(part)
  }
  const rest = groups.slice(shown.length)
  const further = rest.length === 0 ? '' : `<h2>Further differences, without examples</h2>${restTable(rest)}`
  const fields = fieldLines(tally).map((line) => `<p>${xmlText(line)}</p>`)
  const isGood = tally.counts.different === 0 && subject.ending.kind === 'complete'
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${xmlText(title)}</title>
<style>${CSS}</style>
</head>
<body>
<main>
<h1>${xmlText(title)}</h1>
<p class="verdict ${isGood ? 'good' : 'bad'}">${xmlText(verdictOf(tally, subject))}</p>
<p>Old: ${xmlText(subject.old)}<br>New: ${xmlText(subject.new)}</p>
${countsTable(tally)}
${fields.join('\n')}
<h2>Differences</h2>
${groups.length === 0 ? '<p>None.</p>' : ''}${shown.join('\n')}
${further}
</main>
</body>
</html>
`
}

function countsTable({ table, counts, comparisons }: ComparisonTally): string {
  const head = ['endpoint and type', 'asked', ...CLASSES.map(titleOf)]
    .map((title) => `<th scope="col">${title}</th>`)
    .join('')
  const rows = [...table].toSorted(([one], [other]) => (one < other ? -1 : 1)).slice(0, MOST_TABLE_ROWS)
  const share = CLASSES.map((kind) => `<td>${percent(counts[kind], comparisons)}</td>`).join('')
  return `<div class="wide" tabindex="0"><table class="counts">
<thead><tr>${head}</tr></thead>
<tbody>${rows.map(([name, of]) => countsRow(name, of)).join('\n')}</tbody>
<tfoot>${countsRow('all', counts)}<tr><th scope="row">share</th><td></td>${share}</tr></tfoot>
</table></div>`
}

function countsRow(name: string, of: ComparisonTally['counts']): string {
  const cells = CLASSES.map(
    (kind) => `<td${kind === 'different' && of[kind] > 0 ? ' class="bad"' : ''}>${count(of[kind])}</td>`,
  )
  const all = CLASSES.reduce((sum, kind) => sum + of[kind], 0)
  return `<tr><th scope="row">${xmlText(printable(name, 100))}</th><td>${count(all)}</td>${cells.join('')}</tr>`
}

function groupPart(group: Group, subject: Subject): string {
  const { class: kind, what, at, count: times, example } = group
  const { question, rows } = example
  const pair = rows.length === 0 ? [group] : rows
  return `<section>
<h3><span class="kind ${kind}">${titleOf(kind)}</span> ${text(what)} <code>${text(at)}</code> <small>${howMany(times, 'answer')}</small></h3>
<p>For example <code>${text(question.path)}</code> as <code>${text(question.accept)}</code></p>
<div class="wide" tabindex="0"><table class="pair">
<thead><tr><th scope="col">path</th><th scope="col">old</th><th scope="col">new</th></tr></thead>
<tbody>${pair.map((row) => pairRow(row, row.what === what && row.at === at)).join('\n')}</tbody>
</table></div>
<pre>${text(curlOf(subject.old, question, subject.headerFile))}
${text(curlOf(subject.new, question, null))}</pre>
</section>`
}

function pairRow({ at, what, class: kind, old, new: fresh }: ValuePair, isSubject: boolean): string {
  // The way in which a body is written has no values.
  const [was, is] =
    old === null && fresh === null ? ['', ''] : what === null ? [value(old), value(fresh)] : marked(old, fresh)
  const note = what === null ? '' : ` <small>${text(what)}</small>`
  const name = what === null ? '' : ` class="${kind}${isSubject ? ' subject' : ''}"`
  return `<tr${name}><th scope="row"><code>${text(at)}</code>${note}</th><td>${was}</td><td>${is}</td></tr>`
}

function value(content: string | null): string {
  return content === null ? '<span class="none">nothing</span>' : text(content)
}

/** Marks what differs: what is left without the common beginning and end. */
function marked(old: string | null, fresh: string | null): readonly [string, string] {
  if (old === null || fresh === null) {
    const [was, is] = [old, fresh].map((content) =>
      content === null ? value(content) : `<mark>${text(content)}</mark>`,
    )
    return [was ?? '', is ?? '']
  }
  const [one, other] = [Array.from(old), Array.from(fresh)]
  const least = Math.min(one.length, other.length)
  let before = 0
  while (before < least && one[before] === other[before]) before++
  let after = 0
  while (after < least - before && one.at(-1 - after) === other.at(-1 - after)) after++
  const [was, is] = [one, other].map((signs) => {
    const [head, middle, tail] = [
      signs.slice(0, before),
      signs.slice(before, signs.length - after),
      signs.slice(signs.length - after),
    ].map((part) => text(part.join('')))
    return `${head}${middle === '' ? '' : `<mark>${middle}</mark>`}${tail}`
  })
  return [was ?? '', is ?? '']
}

function restTable(groups: readonly Group[]): string {
  const rows = groups.map((group) => {
    const values = [group.what, group.at, count(group.count), shortText(group.old), shortText(group.new)]
    return `<tr>${values.map((cell) => `<td>${text(cell)}</td>`).join('')}</tr>`
  })
  const head = ['difference', 'path', 'answers', 'old', 'new'].map((name) => `<th scope="col">${name}</th>`).join('')
  return `<div class="wide" tabindex="0"><table class="rest"><thead><tr>${head}</tr></thead><tbody>${rows.join('\n')}</tbody></table></div>`
}

/** The text for an element, with control characters made visible. */
function text(content: string): string {
  return xmlAttribute(printable(content))
}

const CSS = `
:root{color-scheme:light dark;--text:light-dark(#1b1b1f,#e8e6ea);--soft:light-dark(#55535c,#b3b0ba);--ground:light-dark(#fff,#16151a);--line:light-dark(#c9c6cf,#45424c);--bad:light-dark(#93140f,#ffaba5);--good:light-dark(#14571f,#9be0a5);--mark:light-dark(#ffe08a,#6b5200);--row:light-dark(#fff4f2,#2b1a19);font-family:system-ui,sans-serif;line-height:1.45}
body{margin:0 auto;max-width:72rem;padding:0 1rem 3rem;background:var(--ground);color:var(--text)}
h1{font-size:1.4rem;overflow-wrap:anywhere}
h2{margin-top:2rem;font-size:1.2rem}
h3{margin:0 0 .3rem;font-size:1rem}
p,h3,.rest td{overflow-wrap:anywhere}
section{margin-top:1.5rem;padding-top:1rem;border-top:2px solid var(--line)}
.verdict{padding:.6rem .9rem;border-left:.4rem solid;font-size:1.15rem;font-weight:600;overflow-wrap:anywhere}
.good{color:var(--good)}
.bad{color:var(--bad);font-weight:700}
.kind{padding:.1rem .5rem;border:1px solid;border-radius:1rem;font-size:.85rem}
.kind.different{color:var(--bad)}
small{color:var(--soft);font-weight:400}
.wide{overflow-x:auto}
table{border-collapse:collapse}
th,td{padding:.25rem .7rem .25rem 0;border-bottom:1px solid var(--line);text-align:left;vertical-align:top}
th[scope=row]{font-weight:400}
.counts td,.counts thead th{text-align:right}
.counts thead th:first-child{text-align:left}
.pair{width:100%;table-layout:fixed}
.pair th,.pair td{overflow-wrap:anywhere}
.pair th:first-child{width:28%}
tr.different,tr.subject{background:var(--row)}
tr.subject th{font-weight:700}
mark{background:var(--mark);color:inherit}
.none{color:var(--soft);font-style:italic}
code,pre{font-family:ui-monospace,monospace;font-size:.9em}
pre{margin:.5rem 0;white-space:pre-wrap;overflow-wrap:anywhere}
@media print{:root{color-scheme:light}body{max-width:none;padding:0}section{break-inside:avoid}mark,tr.different,tr.subject{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
`
