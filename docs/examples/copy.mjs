// Keeps a copy of all events and venues in SQLite: node copy.mjs http://127.0.0.1:8080 copy.db. Needs Node 22.13 or later.
import { DatabaseSync } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'

const [marquee, file] = process.argv.slice(2)
const db = new DatabaseSync(file)
db.exec(`PRAGMA busy_timeout = 5000;
  CREATE TABLE IF NOT EXISTS records (href TEXT PRIMARY KEY, body TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS position (next TEXT NOT NULL)`)
const put = db.prepare('INSERT OR REPLACE INTO records VALUES (?, ?)')
const drop = db.prepare('DELETE FROM records WHERE href = ?')

/** Asks Marquee; throws if the answer is none that can be used. */
async function ask(path, ...also) {
  const response = await fetch(`${marquee}/api${path.slice(1)}`, { headers: { accept: 'application/json' } })
  if (response.status !== 200 && !also.includes(response.status)) throw new Error(`${path} is answered with ${response.status}`)
  return response.status === 200 ? response.json() : null
}

/** Writes records and the position together, so that a crash between them is impossible. */
function commit(next, write) {
  db.exec('BEGIN IMMEDIATE; DELETE FROM position')
  write()
  db.prepare('INSERT INTO position VALUES (?)').run(next)
  db.exec('COMMIT')
}

/** Reads both lists. The position comes first: what changes meanwhile is told again. */
async function readAll() {
  const { Next } = await ask('~/changes')
  const records = []
  for (const first of ['~/venues?limit=200', '~/events?limit=200&from=0001-01-01']) {
    const list = first.slice(2, 8)
    for (let path = first; path; ) {
      const page = await ask(path)
      for (const record of page[list === 'venues' ? 'Venues' : 'Events']) records.push([`~/${list}/${record.Id}`, record])
      path = page._links.find(({ Rel }) => Rel === 'next')?.Href
    }
  }
  commit(Next, () => {
    db.exec('DELETE FROM records')
    for (const [href, record] of records) put.run(href, JSON.stringify(record))
  })
}

async function follow(position) {
  const page = await ask(`${position}&wait=30s`, 410)
  if (page === null) return readAll()
  const records = []
  // A record that is 404 by now has been removed since, which is told later.
  for (const { State, Href } of page.Items) records.push([Href, State === 'removed' ? null : await ask(Href, 404)])
  commit(page.Next, () => {
    for (const [href, record] of records) record === null ? drop.run(href) : put.run(href, JSON.stringify(record))
  })
}

for (;;) {
  try {
    const position = db.prepare('SELECT next FROM position').get()
    await (position === undefined ? readAll() : follow(position.next))
  } catch (cause) {
    // Marquee is away or cannot read its CRM.
    console.error(String(cause))
    await setTimeout(1000)
  }
}
