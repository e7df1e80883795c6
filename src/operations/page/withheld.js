import { byId, crmText, element, say } from './element.js'
import { numberText, REASONS } from './words.js'

const PAGE_ROWS = 20
const TYPING_MS = 250

let offset = 0
let counted = ''
let timer = 0
let asking = new AbortController()

/** Sets the search up; `onExplain` is called with an id. */
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
  byId('withheld-list').addEventListener('change', begin)
  byId('withheld-reason').addEventListener('change', begin)
  byId('withheld-words').addEventListener('input', () => {
    clearTimeout(timer)
    timer = setTimeout(begin, TYPING_MS)
  })
  byId('withheld-previous').addEventListener('click', () => turn(-PAGE_ROWS))
  byId('withheld-next').addEventListener('click', () => turn(PAGE_ROWS))
}

/** Shows the rows of a list that are withheld for a reason. */
export function filterWithheld(list, reason, onExplain) {
  byId('withheld-list').value = list
  byId('withheld-reason').value = reason
  byId('withheld-words').value = ''
  offset = 0
  void search(onExplain)
  byId('withheld-title').scrollIntoView()
}

/** Searches again where the service says that the withheld rows are other ones. */
export function followWithheld(status, onExplain) {
  const now = JSON.stringify(Object.values(status.lists).map((list) => list.withheldByReason))
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
    q: byId('withheld-words').value,
    offset: String(offset),
  })
  try {
    const response = await fetch(`withheld?${query}`, { signal })
    if (!response.ok) throw new Error(await response.text())
    show(await response.json(), onExplain)
  } catch {
    if (!signal.aborted) say(byId('withheld-count'), 'The rows could not be asked for.')
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

function rowOf({ id, where, reason, remedy }, onExplain) {
  const place = element('div', { class: 'place' }, crmText(where))
  if (id !== null) {
    const button = element('button', { type: 'button', class: 'plain' }, `Explain ${id}`)
    button.addEventListener('click', () => onExplain(id))
    place.append(button)
  }
  return element(
    'li',
    {},
    place,
    element('div', {}, 'The row ', crmText(reason), '. ', element('strong', {}, crmText(remedy))),
  )
}
