import { byId, say } from './element.js'
import { recordRow } from './explain.js'
import { numberText, spanText } from './words.js'

const EVERY_MS = 60_000
const [WIDTH, HEIGHT] = [300, 48]

let shownMs = Number.NEGATIVE_INFINITY
let served = ''

/** Shows the last day: updated each minute and when the lists change. */
export async function showDay(ask, status) {
  const now = Object.values(status.lists)
    .map((list) => list.served)
    .join()
  if (served === now && performance.now() - shownMs < EVERY_MS) return
  const [samples, changes] = await Promise.all([ask('samples'), ask('changes')])
  served = now
  shownMs = performance.now()
  const { ageMs, reads, requests } = samples
  drawLine('age', ageMs, (most) => `${spanText(most)} at most`)
  drawLine('rate', reads, (most) => `${numberText(most)} a minute at most`)
  drawLine('load', requests, (most) => `${numberText(most)} a minute at most`)
  const { total, records } = changes
  const more = total > records.length ? `; the last ${records.length}` : ''
  say(
    byId('changes-count'),
    total === 0
      ? 'No served record is new or has changed within the last day, or since the service started.'
      : `${numberText(total)} of the served records are new or have changed${more}:`,
  )
  byId('changes').replaceChildren(...records.map(recordRow))
}

/** Creates a line with a point a minute, the newest on the right, and a text alternative. */
function drawLine(id, values, words) {
  const known = values.map((value) => value ?? 0)
  const most = Math.max(...known, 0)
  const text = `${words(most)}, over ${spanText(known.length * EVERY_MS)}`
  // A single minute is also drawn as a line.
  const drawn = known.length === 1 ? [...known, ...known] : known
  const points = drawn.map((value, index) => {
    const y = HEIGHT - 2 - (most === 0 ? 0 : (value / most) * (HEIGHT - 4))
    return `${((index * WIDTH) / (drawn.length - 1)).toFixed(1)},${y.toFixed(1)}`
  })
  const line = byId(`${id}-line`)
  line.firstElementChild.setAttribute('points', points.join(' '))
  line.setAttribute('aria-label', text)
  say(byId(`${id}-text`), text)
}
