import { byId, crmText, element } from './element.js'
import { numberText } from './words.js'

/** Has an id explained, and leads the keyboard and the eye there. */
export async function explain(id) {
  const target = byId('explanation')
  byId('explain-id').value = id
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
    if (id !== '') void explain(id)
  })
}

function explanation({ id, kind, shown, steps, representations }) {
  const name = kind === null ? 'The record' : kind === 'event' ? 'The event' : 'The venue'
  const verdict = shown ? 'is on the web' : 'is not on the web'
  return [
    element('h3', {}, `${name} `, crmText(id), ` ${verdict}`),
    element('ol', { class: 'steps' }, ...steps.map(stepOf)),
    ...representations.map(bodyOf),
  ]
}

function stepOf({ ok, detail }) {
  const mark = element('span', { class: ok ? 'yes' : 'no' }, ok ? 'yes' : 'NO')
  return element('li', {}, mark, crmText(detail))
}

/** The body as its bytes are, not made nicer. */
function bodyOf({ types, etag, sizeBytes, body }) {
  const title = `${types.join(' and ')} · ${numberText(sizeBytes)} bytes · ETag ${etag}`
  return element('details', {}, element('summary', {}, title), element('pre', { class: 'crm' }, body))
}
