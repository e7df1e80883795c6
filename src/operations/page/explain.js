import { byId, crmText, element, say } from './element.js'
import { numberText, spanText } from './words.js'

/** Has an id explained, and leads the keyboard and the eye there. */
export async function explain(id) {
  const target = byId('explanation')
  byId('explain-id').value = id
  // The address of the page is one to send.
  history.replaceState(null, '', `?explain=${encodeURIComponent(id)}`)
  target.replaceChildren(element('p', {}, 'Asking…'))
  try {
    const response = await fetch(`explain/${encodeURIComponent(id)}`)
    if (!response.ok) throw new Error(await response.text())
    target.replaceChildren(...explanation(await response.json()))
  } catch {
    target.replaceChildren(element('p', {}, 'The service did not answer that.'))
  }
  target.scrollIntoView({ block: 'nearest' })
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

/** Explains the id in a text, an address for example; a text that holds none may be a title, or an id of the CRM's own. */
async function look(text) {
  const [id = null] = GUID.exec(text) ?? []
  showFound({ total: 0, records: [] })
  await explain(id ?? text)
  if (id !== null) return
  try {
    const response = await fetch(`find?q=${encodeURIComponent(text)}`)
    if (response.ok) showFound(await response.json())
  } catch {
    say(byId('found-count'), 'The service did not answer the search for a title.')
  }
}

function showFound({ total, records }) {
  const more = total > records.length ? `; the first ${records.length}` : ''
  say(byId('found-count'), total === 0 ? '' : `${numberText(total)} on the web by that name${more}:`)
  byId('found').replaceChildren(...records.map(recordRow))
}

/** A record by its name, which leads to its explanation. */
export function recordRow({ list, id, name, changedAgoMs }) {
  const link = element('a', { href: `?explain=${id}` }, crmText(name === '' ? id : name))
  link.addEventListener('click', (clicked) => {
    clicked.preventDefault()
    void explain(id)
  })
  return element('li', {}, link, ` ${list === 'events' ? 'event' : 'venue'}, as it is for ${spanText(changedAgoMs)}`)
}

function explanation({ id, kind, shown, steps, representations }) {
  const [first] = steps
  if (kind === null && first.step === 'id' && !first.ok) {
    return [
      element('h3', {}, crmText(`"${id}"`), ' is not an id'),
      steps.length > 1 ? stepList(steps.slice(1), false) : '',
    ]
  }
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

/** What is wrong with a record that is shown all the same is a warning. */
function stepOf({ ok, detail }, shown) {
  const [kind, word] = ok ? ['yes', 'yes'] : shown ? ['but', 'but'] : ['no', 'NO']
  const mark = element('span', { class: kind }, word)
  return element('li', {}, mark, crmText(detail))
}

/** The body as its bytes are, not made nicer. */
function bodyOf({ types, etag, sizeBytes, body }) {
  const title = `${types.join(' and ')} · ${numberText(sizeBytes)} bytes · ETag ${etag}`
  return element('details', {}, element('summary', {}, title), element('pre', { class: 'crm' }, body))
}
