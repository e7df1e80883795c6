import { byId, element, say } from './element.js'
import { explain, startExplain } from './explain.js'
import { showLists } from './lists.js'
import { showDay } from './day.js'
import { showReads } from './reads.js'
import { filterWithheld, followWithheld, startWithheld } from './withheld.js'
import { clockText, dayText, reloadText, clusterText, snapshotText, stateOf, webhookText } from './words.js'

const EVERY_MS = 3000
const PATIENCE_MS = 5000

let lastAnswer = null
let lastStatus = null

function showState(kind, text) {
  const state = byId('state')
  state.className = `state ${kind}`
  say(state, text)
  document.body.classList.toggle('silent', kind === 'silent bad')
  // The title shows the state in a background tab.
  document.title = `${kind === 'good' ? '' : '⚠ '}Marquee operations`
}

async function ask(path) {
  const response = await fetch(path, { signal: AbortSignal.timeout(PATIENCE_MS), cache: 'no-store' })
  if (response.status === 401) throw new Error('The token is not accepted any more: load the page again.')
  // A 503 (not ready) has the same content.
  if (!response.ok && response.status !== 503) throw new Error(`The service answers ${response.status}.`)
  return response.json()
}

async function poll() {
  try {
    const [status, reads] = await Promise.all([ask('status'), ask('reads')])
    lastAnswer = new Date().toISOString()
    lastStatus = status
    showState(...stateOf(status))
    byId('cluster').hidden = status.cluster === undefined
    if (status.cluster !== undefined) say(byId('cluster'), clusterText(status.cluster))
    byId('reload').hidden = status.reload === undefined
    if (status.reload !== undefined) say(byId('reload'), reloadText(status.reload))
    byId('snapshot').hidden = status.snapshotError === null
    if (status.snapshotError !== null) say(byId('snapshot'), snapshotText(status))
    showWebhooks(status.webhooks ?? [])
    showLists(status, askToAccept)
    showReads(reads)
    followWithheld(status, explain)
    await showDay(ask, status)
    showPage(status.page)
    say(byId('about'), `Marquee ${status.version}, running since ${dayText(status.startedAt)}.`)
  } catch (cause) {
    const known = cause instanceof Error && /^The (?:token|service) /.test(cause.message) ? cause.message : null
    const since = lastAnswer === null ? '' : ` The data below is from ${clockText(lastAnswer)}.`
    showState('silent bad', `${known ?? 'The service does not answer.'}${since}`)
  }
  setTimeout(() => void poll(), EVERY_MS)
}

function showWebhooks(webhooks) {
  byId('webhooks').hidden = webhooks.length === 0
  const rows = webhooks.map((one) => element('li', {}, `${one.webhook}: ${webhookText(one)}.`))
  byId('webhooks-rows').replaceChildren(...rows)
}

/** Links to the page for browsers, which only this machine reaches. */
function showPage(address) {
  byId('public').hidden = address === undefined || !/^(?:127\.|localhost$|\[::1\]$)/.test(location.hostname)
  if (address !== undefined) byId('public').querySelector('a').href = address
}

function askToAccept() {
  const names = Object.entries(lastStatus.lists).filter(([, list]) => list.shrunk !== null)
  const lists = names.map(([name]) => name).join(' and ')
  say(
    byId('accept-text'),
    `The CRM's list of ${lists} has lost more than half of its records. If the CRM really holds so few, accept: the list is read at once, and what is missing from it is withdrawn from the web. If not, correct the CRM, its filter or its export first.`,
  )
  byId('accept').showModal()
}

async function accept() {
  byId('accept').close()
  try {
    const response = await fetch('accept', { method: 'POST' })
    if (!response.ok) throw new Error(await response.text())
    const { accepted } = await response.json()
    showState(
      'warn',
      accepted.length === 0
        ? 'No list was held back.'
        : `Accepted: the shorter list of ${accepted.join(' and ')} is read now.`,
    )
  } catch {
    showState('bad', 'The service did not accept this. Try again.')
  }
}

byId('accept-no').addEventListener('click', () => byId('accept').close())
byId('accept-yes').addEventListener('click', () => void accept())
byId('lists').addEventListener('click', (clicked) => {
  const link = clicked.target.closest('a')
  if (link === null) return
  clicked.preventDefault()
  filterWithheld(new URLSearchParams(link.search), explain)
})
startExplain()
startWithheld(explain)
const asked = new URLSearchParams(location.search)
if (asked.has('list')) filterWithheld(asked, explain)
void poll()
