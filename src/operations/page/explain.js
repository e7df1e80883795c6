import { byId, crmText, element, say } from './element.js'
import { numberText, spanText } from './words.js'

/** Shows the explanation of an id, and moves focus there. */
export async function explain(id) {
  await show(id, () => fetchJson(`explain/${encodeURIComponent(id)}`).then((answer) => explanations(id, answer)))
}

/** Shows the results for a search text. */
async function show(text, partsOf) {
  const target = byId('explanation')
  byId('explain-id').value = text
  // The page's address can be shared.
  history.replaceState(null, '', `?explain=${encodeURIComponent(text)}`)
  target.replaceChildren(element('p', {}, 'Asking…'))
  try {
    target.replaceChildren(...(await partsOf()))
  } catch {
    target.replaceChildren(element('p', {}, 'The service could not answer this question. Try again.'))
  }
  target.scrollIntoView({ block: 'nearest' })
}

async function fetchJson(path) {
  const response = await fetch(path)
  if (!response.ok) throw new Error(await response.text())
  return response.json()
}

export function startExplain() {
  byId('explain').addEventListener('submit', (submitted) => {
    submitted.preventDefault()
    const id = byId('explain-id').value.trim()
    if (id !== '') void look(id)
  })
  const asked = new URLSearchParams(location.search).get('explain')
  if (asked !== null && asked !== '') void look(asked)
}

const GUID = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/i

/** Explains the id in the text, which may be an address. A text without an id may be a title or the CRM's own id. */
async function look(text) {
  const [id = null] = GUID.exec(text) ?? []
  showFound({ total: 0, records: [] })
  if (id !== null) return explain(id)
  await show(text, async () => {
    const [answer, found] = await Promise.all([
      fetchJson(`explain/${encodeURIComponent(text)}`),
      fetchJson(`find?q=${encodeURIComponent(text)}`).catch(() => null),
    ])
    if (found === null) say(byId('found-count'), 'The service did not answer the search for a title.')
    else showFound(found)
    // A title needs no explanation: its hits are listed above.
    return found !== null && found.total > 0 && isUnknown(answer) ? [] : explanations(text, answer)
  })
}

/** Whether no row has this id, or this text in its id column. */
function isUnknown({ kind, steps }) {
  return steps[0].step === 'title' || (kind === null && (steps.length === 1 || steps[0].ok))
}

function showFound({ total, records }) {
  const more = total > records.length ? `; the first ${records.length}` : ''
  say(byId('found-count'), total === 0 ? '' : `${numberText(total)} by that name${more}:`)
  byId('found').replaceChildren(...records.map(recordRow))
}

/** Creates a hit: the name of a record or withheld row, with a link to its explanation. */
export function recordRow({ list, id, name, start, venue, where, changedAgoMs, reason }) {
  const kind = list === 'events' ? 'event' : 'venue'
  const moment = start === null ? '' : `, ${start.slice(0, 16).replace('T', ' ')}`
  const place = venue === null ? [] : [', ', crmText(venue)]
  const row = where === null ? [] : [' (', crmText(where), ')']
  const standing =
    reason === null
      ? [moment, ...place, `; unchanged for ${spanText(changedAgoMs)}`]
      : [...row, ', not on the web: it ', crmText(reason)]
  if (id === null) return element('li', {}, crmText(name), ` ${kind}`, ...standing)
  const link = element('a', { href: `?explain=${id}` }, crmText(name === '' ? id : name))
  link.addEventListener('click', (clicked) => {
    clicked.preventDefault()
    void explain(id)
  })
  return element('li', {}, link, ` ${kind}`, ...standing)
}

/** @param text the search text, which may be a title or the CRM's own id */
function explanations(text, { also = [], ...first }) {
  const { kind, steps } = first
  if (kind !== null || GUID.test(text)) return [first, ...also].flatMap(explanation)
  const [head, ...rest] = steps
  const told = head.ok ? steps : rest
  const heading = element('h3', {}, 'Nothing has the title or the id ', crmText(`"${text}"`))
  return [
    isUnknown(first) ? heading : element('h3', {}, crmText(`"${text}"`), ' is not an id'),
    told.length === 0 ? '' : stepList(told, false),
  ]
}

function explanation({ id, kind, shown, steps, representations }) {
  const name = kind === null ? 'The record' : kind === 'event' ? 'The event' : 'The venue'
  const verdict = shown ? 'is on the web' : 'is not on the web'
  return [
    element('h3', {}, `${name} `, crmText(id), ` ${verdict}`),
    stepList(steps, shown),
    ...representations.map(bodyOf),
  ]
}

function stepList(steps, shown) {
  return element('ol', { class: 'steps' }, ...steps.map((step) => stepOf(step, shown)))
}

/** A problem with a record that is on the web is shown as a warning. */
function stepOf({ ok, detail }, shown) {
  const [kind, word] = ok ? ['yes', 'yes'] : shown ? ['but', 'but'] : ['no', 'NO']
  const mark = element('span', { class: kind }, word)
  return element('li', {}, mark, crmText(detail))
}

/** Shows the body byte for byte, not reformatted. */
function bodyOf({ types, etag, sizeBytes, body }) {
  const title = `${types.join(' and ')} · ${numberText(sizeBytes)} bytes · ETag ${etag}`
  return element('details', {}, element('summary', {}, title), element('pre', { class: 'crm' }, body))
}
