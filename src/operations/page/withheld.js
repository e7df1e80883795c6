import { byId, crmText, element, say } from './element.js'
import { numberText, REASONS } from './words.js'

const PAGE_ROWS = 20
const TYPING_MS = 250

let offset = 0
/** The column whose faults are shown; empty for all. */
let column = ''
let counted = ''
let timer = 0
let asking = new AbortController()

/** Sets up the search. `onExplain` is called with an id. */
export function startWithheld(onExplain) {
  for (const [reason, words] of Object.entries(REASONS)) {
    byId('withheld-reason').append(element('option', { value: reason }, words))
  }
  const begin = () => {
    offset = 0
    void search(onExplain)
  }
  const turn = (by) => {
    offset = Math.max(0, offset + by)
    void search(onExplain)
  }
  byId('withheld').addEventListener('submit', (submitted) => {
    submitted.preventDefault()
    begin()
  })
  byId('withheld-list').addEventListener('change', () => aboutColumn('', begin))
  byId('withheld-reason').addEventListener('change', () => aboutColumn('', begin))
  byId('withheld-any').addEventListener('click', () => aboutColumn('', begin))
  byId('withheld-words').addEventListener('input', () => {
    clearTimeout(timer)
    timer = setTimeout(begin, TYPING_MS)
  })
  byId('withheld-previous').addEventListener('click', () => turn(-PAGE_ROWS))
  byId('withheld-next').addEventListener('click', () => turn(PAGE_ROWS))
}

function aboutColumn(name, then) {
  column = name
  byId('withheld-column').hidden = name === ''
  say(byId('withheld-column-name'), name)
  then()
}

/** Shows the withheld rows that the query of an address selects. */
export function filterWithheld(query, onExplain) {
  byId('withheld-list').value = query.get('list')
  byId('withheld-reason').value = query.get('reason') ?? ''
  byId('withheld-words').value = ''
  offset = 0
  aboutColumn(query.get('column') ?? '', () => void search(onExplain))
  byId('withheld-title').scrollIntoView()
}

/** Searches again if the withheld rows have changed. */
export function followWithheld(status, onExplain) {
  const now = JSON.stringify(Object.values(status.lists).map((list) => [list.withheldByReason, list.groups]))
  if (now === counted) return
  counted = now
  void search(onExplain)
}

async function search(onExplain) {
  asking.abort()
  asking = new AbortController()
  const { signal } = asking
  const query = new URLSearchParams({
    list: byId('withheld-list').value,
    reason: byId('withheld-reason').value,
    column,
    q: byId('withheld-words').value,
    offset: String(offset),
  })
  try {
    const response = await fetch(`withheld?${query}`, { signal })
    if (!response.ok) throw new Error(await response.text())
    show(await response.json(), onExplain)
  } catch {
    if (!signal.aborted) say(byId('withheld-count'), 'The withheld rows could not be loaded. Try again.')
  }
}

function show({ list, total, matching, rows }, onExplain) {
  const range = rows.length === 0 ? '' : `; shown are ${numberText(offset + 1)} to ${numberText(offset + rows.length)}`
  const all = matching === total ? numberText(total) : `${numberText(matching)} of ${numberText(total)}`
  say(byId('withheld-count'), total === 0 ? `No row of the ${list} is withheld.` : `${all} withheld ${list}${range}.`)
  byId('withheld-rows').replaceChildren(...rows.map((row) => rowOf(row, onExplain)))
  byId('withheld-previous').disabled = offset === 0
  byId('withheld-next').disabled = offset + rows.length >= matching
}

function rowOf({ id, name, where, faults: [first, ...others] }, onExplain) {
  const place = element('div', { class: 'place' }, crmText(where))
  if (name !== null) place.prepend(element('strong', { class: 'crm' }, name))
  if (id !== null) {
    const button = element('button', { type: 'button', class: 'plain', 'aria-label': `Explain ${id}` }, 'Explain')
    button.addEventListener('click', () => onExplain(id))
    place.append(element('span', {}, id), button)
  }
  return element(
    'li',
    {},
    place,
    element('div', {}, 'The row ', ...sentences(first)),
    others.length === 0 ? '' : furtherFaults(others),
  )
}

/** Creates a collapsed list of the other faults: a row may have as many as columns. */
function furtherFaults(faults) {
  const items = faults.map((fault) => element('li', {}, 'It ', ...sentences(fault)))
  const count = faults.length === 1 ? 'One more fault' : `${numberText(faults.length)} more faults`
  return element('details', {}, element('summary', {}, count), element('ul', { class: 'groups' }, ...items))
}

function sentences({ reason, remedy }) {
  return [crmText(reason), '. ', element('strong', {}, crmText(remedy))]
}
