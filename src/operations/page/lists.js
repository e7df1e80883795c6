import { byId, crmText, element, say } from './element.js'
import { isMistake, lossText, numberText, REASONS, spanText } from './words.js'

const cards = new Map()

/** Shows the state of each list. The elements are reused, so that focus stays. */
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
    Held: element('dd'),
    'Not yet over': element('dd'),
    Withheld: element('dd'),
    Mistakes: element('dd'),
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
  const loss = element('p')
  const shrunk = element('div', { class: 'note bad', hidden: '' }, loss, button)
  const title = element('h3', { id: `list-${name}` }, name === 'events' ? 'Events' : 'Venues')
  const root = element('article', { class: 'card', 'aria-labelledby': `list-${name}`, id: `card-${name}` })
  const suspicious = element('div', { class: 'note warn', hidden: '' })
  root.append(title, element('dl', {}, ...rows), error, shrunk, suspicious, ignored)
  return { root, fields, error, ignored, shrunk, loss, suspicious }
}

function fillCard({ fields, error, ignored, shrunk, loss, suspicious }, name, list) {
  // A count in large type would suggest that callers get these records.
  say(fields.Served, list.answers ? numberText(list.served) : 'nothing')
  fields.Served.classList.toggle('no', !list.answers)
  for (const part of [fields.Held, fields.Held.previousElementSibling]) part.hidden = list.answers || list.served === 0
  say(fields.Held, `${numberText(list.served)}, kept but not served`)
  // Only events end, and they are counted only if lists are on.
  const isCounted = list.answers && list.notYetOver !== undefined
  for (const part of [fields['Not yet over'], fields['Not yet over'].previousElementSibling]) part.hidden = !isCounted
  say(fields['Not yet over'], isCounted ? `${numberText(list.notYetOver)}, in /api/events` : '')
  showWithheld(fields.Withheld, name, list)
  showMistakes(fields.Mistakes, name, list)
  showSuspicious(suspicious, list.suspicious)
  say(fields.Confirmed, agoText(list.confirmedAgeMs))
  say(fields['Read in full'], agoText(list.auditedAgeMs))
  say(fields['Next read'], `in ${spanText(list.nextTryInMs)}`)
  const drift = Object.entries(list.drift).map(([column, count]) => `${column} ${numberText(count)}`)
  say(fields['Found by full reads'], drift.length === 0 ? 'nothing the CRM had not reported' : drift.join(', '))
  error.hidden = list.lastError === null
  error.className = `note ${list.waits ? 'warn' : 'bad'}`
  say(error, `${list.waits ? '' : 'The last read failed: '}${list.lastError ?? ''}`)
  shrunk.hidden = list.shrunk === null
  if (list.shrunk !== null) say(loss, `${lossText(name, list.shrunk)}.`)
  ignored.hidden = list.ignoredColumns.length === 0
  say(
    ignored,
    `The CRM's ${name} have columns that nothing reads. A misspelt one counts as blank: ${list.ignoredColumns.join(', ')}`,
  )
}

/** Whether a part of the page must be redrawn. Otherwise it is left alone, so that focus stays. */
function isOther(part, shown) {
  const text = JSON.stringify(shown)
  if (part.dataset.shown === text) return false
  part.dataset.shown = text
  return true
}

/** Creates the counts by reason, each with a link to its rows. */
function showWithheld(field, name, { withheld, withheldByReason }) {
  if (!isOther(field, withheldByReason)) return
  const links = Object.entries(withheldByReason)
    .filter(([, count]) => count > 0)
    .map(([reason, count]) =>
      element('a', { href: `?list=${name}&reason=${reason}` }, `${REASONS[reason]}: ${numberText(count)}`),
    )
  const parts = links.flatMap((link, index) => (index === 0 ? [link] : [', ', link]))
  field.replaceChildren(numberText(withheld), ...(parts.length === 0 ? [] : [' (', ...parts, ')']))
}

const MOST_GROUPS = 8

/** Creates the counts by column and fault, each with a link to its rows. A row may count several times. */
function showMistakes(field, name, { groups }) {
  const mistakes = groups.filter(({ fault }) => isMistake(fault))
  for (const part of [field, field.previousElementSibling]) part.hidden = mistakes.length === 0
  if (!isOther(field, mistakes)) return
  const items = mistakes.slice(0, MOST_GROUPS).map(({ column, fault, count }) => {
    const query = new URLSearchParams({ list: name, reason: fault, column: column ?? '' })
    const said = element('a', { href: `?${query}` }, crmText(column ?? 'the row'), `, ${REASONS[fault]}`)
    return element('li', {}, said, `: ${numberText(count)}`)
  })
  const more = mistakes.length - items.length
  if (more > 0) items.push(element('li', {}, `and ${numberText(more)} other kinds`))
  field.replaceChildren(element('ul', { class: 'groups' }, ...items))
}

/** Creates an item for each kind of suspicion. */
function showSuspicious(note, suspicious) {
  note.hidden = suspicious.length === 0
  if (!isOther(note, suspicious)) return
  const items = suspicious.map(({ column, what, count, example }) => {
    return element('li', {}, crmText(`${column} ${what}`), `: ${numberText(count)} (`, crmText(example), ')')
  })
  note.replaceChildren(
    element('p', {}, 'Suspicious, and served all the same:'),
    element('ul', { class: 'groups' }, ...items),
  )
}

function agoText(ms) {
  return ms === null ? 'never' : `${spanText(ms)} ago`
}
