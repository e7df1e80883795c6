// This page is public and shows texts of the CRM, which it only ever sets as text, never as HTML.
const { base, lists, dashboard } = document.body.dataset
const at = (id) => document.getElementById(id)
const PATHS = {
  event: (id) => `/api/events/${id}`,
  'event-venue': (id) => `/api/events/${id}/venue`,
  venue: (id) => `/api/venues/${id}`,
}

function element(name, text, className = '') {
  const made = document.createElement(name)
  made.textContent = text
  if (className !== '') made.className = className
  return made
}

// The browser runs on the same machine, and only this machine can reach the dashboard.
if (dashboard !== undefined && /^(?:127\.|localhost$|\[::1\]$)/.test(location.hostname)) {
  const address = new URL('/', location.href)
  address.port = dashboard
  at('dashboard').hidden = false
  at('dashboard').querySelector('a').href = address
}

let asked = 0

async function look(path, type = at('type').value, into = 'answer') {
  const mine = ++asked
  const address = new URL(base + path, location.href)
  const shown = []
  try {
    const response = await fetch(address, { headers: { Accept: type }, cache: 'no-store' })
    const body = await response.text()
    const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n')
    shown.push(
      element('pre', `curl -i -H 'Accept: ${type}' '${address}'`),
      element('p', `${response.status} ${response.statusText}`, response.ok ? 'status' : 'status bad'),
      element('pre', headers),
      element('pre', body),
    )
  } catch {
    shown.push(element('p', 'The service did not answer. Try again.', 'status bad'))
  }
  // A newer request has been sent: its answer is the one to show.
  if (mine === asked) at(into).replaceChildren(...shown)
}

at('ask').addEventListener('submit', (event) => {
  event.preventDefault()
  // The shown shell command quotes the address.
  const id = encodeURIComponent(at('id').value.trim()).replaceAll("'", '%27')
  void look(PATHS[at('kind').value](id))
})

const LISTS = {
  events: '/api/events',
  venues: '/api/venues',
  tags: '/api/tags',
  calendar: '/api/events.ics',
  atom: '/api/events.atom',
}
const FEEDS = { calendar: 'text/calendar', atom: 'application/atom+xml' }

/** Shows the parameters of the chosen list, and disables those of others, so that they are not sent. */
function chooseList() {
  const chosen = at('listing').value
  for (const field of document.querySelectorAll('[data-of]')) {
    const isTaken = field.dataset.of.split(' ').includes(chosen)
    field.hidden = !isTaken
    field.querySelector('input, select').disabled = !isTaken
  }
  // A feed has only one media type.
  at('list-types').hidden = chosen in FEEDS
}

if (at('list') !== null) {
  chooseList()
  at('listing').addEventListener('change', chooseList)
  at('list').addEventListener('submit', (event) => {
    event.preventDefault()
    const given = [...new FormData(at('list'))].filter(([, value]) => value.trim() !== '')
    const query = new URLSearchParams(given).toString()
    const chosen = at('listing').value
    const type = FEEDS[chosen] ?? at('list-type').value
    void look(LISTS[chosen] + (query === '' ? '' : `?${query}`), type, 'listed')
  })
}

function item({ Id, Name, Start }) {
  const line = document.createElement('li')
  const button = element('button', Name ?? 'Untitled')
  button.type = 'button'
  button.addEventListener('click', () => {
    at('kind').value = 'event'
    at('id').value = Id
    at('look').scrollIntoView()
    at('look').focus({ preventScroll: true })
    void look(PATHS.event(Id))
  })
  line.append(button, ' ', element('span', Start.slice(0, 16).replace('T', ', ')))
  return line
}

let more = null

async function whatIsOn(path) {
  try {
    const response = await fetch(path, { headers: { Accept: 'application/hal+json' } })
    const page = await response.json()
    if (!response.ok) throw new Error(page.detail)
    const items = page._embedded.event.map(item)
    at('on-events').append(...items)
    at('on-said').textContent = at('on-events').children.length === 0 ? 'Nothing is on.' : ''
    more = page._links.next?.href ?? null
    at('on-more').hidden = more === null
  } catch {
    at('on-said').textContent = 'What is on cannot be shown now. Try again later.'
  }
}

if (lists === 'on') {
  at('on').hidden = false
  at('on-more').addEventListener('click', () => void whatIsOn(more))
  void whatIsOn(`${base}/api/events?limit=10`)
}
