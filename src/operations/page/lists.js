import { byId, element, say } from './element.js'
import { numberText, REASONS, spanText } from './words.js'

const cards = new Map()

/** Shows what is held of each list; the elements stay, so that the keyboard's focus does. */
export function showLists(status, onAccept) {
  for (const [name, list] of Object.entries(status.lists)) {
    if (!cards.has(name)) {
      cards.set(name, newCard(name, onAccept))
      byId('lists').append(cards.get(name).root)
    }
    fillCard(cards.get(name), name, list)
  }
}

function newCard(name, onAccept) {
  const fields = {
    Served: element('dd', { class: 'big' }),
    'Not yet over': element('dd'),
    Withheld: element('dd'),
    Confirmed: element('dd'),
    'Read in full': element('dd'),
    'Next read': element('dd'),
    'Found by full reads': element('dd'),
  }
  const rows = Object.entries(fields).flatMap(([label, field]) => [element('dt', {}, label), field])
  const error = element('p', { class: 'note bad', hidden: '' })
  const ignored = element('p', { class: 'note warn', hidden: '' })
  const button = element('button', { type: 'button', class: 'danger' }, `Accept the shorter list of ${name}…`)
  button.addEventListener('click', onAccept)
  const said = `So many ${name} are missing from the CRM's list that it is not believed: what was served is kept.`
  const brake = element('div', { class: 'note warn', hidden: '' }, element('p', {}, said), button)
  const title = element('h3', { id: `list-${name}` }, name === 'events' ? 'Events' : 'Venues')
  const root = element('article', { class: 'card', 'aria-labelledby': `list-${name}`, id: `card-${name}` })
  const suspicious = element('p', { class: 'note warn', hidden: '' })
  root.append(title, element('dl', {}, ...rows), error, brake, suspicious, ignored)
  return { root, fields, error, ignored, brake, suspicious }
}

function fillCard({ fields, error, ignored, brake, suspicious }, name, list) {
  say(fields.Served, numberText(list.served))
  // Only events end, and only where lists are on is it counted.
  const isCounted = list.notYetOver !== undefined
  for (const part of [fields['Not yet over'], fields['Not yet over'].previousElementSibling]) part.hidden = !isCounted
  say(fields['Not yet over'], isCounted ? `${numberText(list.notYetOver)}, in /api/events` : '')
  showWithheld(fields.Withheld, name, list)
  suspicious.hidden = (list.suspicious ?? []).length === 0
  say(suspicious, `Suspicious, and served all the same: ${(list.suspicious ?? []).map(suspicionText).join('; ')}`)
  say(fields.Confirmed, agoText(list.confirmedAgeMs))
  say(fields['Read in full'], agoText(list.auditedAgeMs))
  say(fields['Next read'], `in ${spanText(list.nextTryInMs)}`)
  const drift = Object.entries(list.drift).map(([column, count]) => `${column} ${numberText(count)}`)
  say(fields['Found by full reads'], drift.length === 0 ? 'nothing the CRM had not reported' : drift.join(', '))
  error.hidden = list.lastError === null
  say(error, `The last read failed: ${list.lastError ?? ''}`)
  brake.hidden = !list.braked
  ignored.hidden = list.ignoredColumns.length === 0
  say(
    ignored,
    `The CRM's ${name} have columns that nothing reads. A misspelt one counts as blank: ${list.ignoredColumns.join(', ')}`,
  )
}

/** How many for each reason, each a link to those rows; touched only where it differs, for the keyboard's focus. */
function showWithheld(field, name, { withheld, withheldByReason }) {
  const text = JSON.stringify(withheldByReason)
  if (field.dataset.shown === text) return
  field.dataset.shown = text
  const links = Object.entries(withheldByReason)
    .filter(([, count]) => count > 0)
    .map(([reason, count]) =>
      element('a', { href: `?list=${name}&reason=${reason}` }, `${REASONS[reason]}: ${numberText(count)}`),
    )
  const parts = links.flatMap((link, index) => (index === 0 ? [link] : [', ', link]))
  field.replaceChildren(numberText(withheld), ...(parts.length === 0 ? [] : [' (', ...parts, ')']))
}

/** One kind of what is suspicious, as /status tells it. */
function suspicionText({ column, what, count, example }) {
  return `${column === null ? '' : `${column}: `}${what} (${numberText(count)}, such as ${example})`
}

function agoText(ms) {
  return ms === null ? 'never' : `${spanText(ms)} ago`
}
