import { byId, element } from './element.js'
import { clockText, dayText, numberText } from './words.js'

let shown = ''

/** Shows the last reads, newest first. Equal consecutive reads share a line. */
export function showReads(reads) {
  const text = JSON.stringify(reads)
  if (text === shown) return
  shown = text
  byId('reads').replaceChildren(...reads.map(rowOf))
}

function rowOf({ from, until, times, read }) {
  const when = times === 1 ? clockText(until) : `${clockText(from)} – ${clockText(until)}`
  const failed = read.outcome !== 'ok' && read.outcome !== 'waiting'
  const again = times === 1 ? '' : `, ${numberText(times)} times`
  const news = read.changed === 0 ? 'nothing new' : `${numberText(read.rows)} rows, ${numberText(read.changed)} changed`
  const good = read.outcome === 'waiting' ? `waiting${again}: ${read.message}` : `${news}${again}`
  return element(
    'tr',
    {},
    element('td', {}, element('time', { datetime: until, title: dayText(until) }, when)),
    element('td', {}, read.list),
    element('td', { class: 'spare' }, read.kind),
    element('td', { class: 'spare' }, `${Math.round(read.durationMs)} ms`),
    element('td', { class: failed ? 'bad' : '' }, failed ? `failed${again} (${read.outcome}): ${read.message}` : good),
  )
}
