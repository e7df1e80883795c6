import { afterAll, beforeAll, describe, expect, it } from 'bun:test'
import { runCommand } from '../commands/run-command.ts'
import { inTurn } from '../support/depth.ts'
import { serve } from '../support/marquee-process.ts'
import { JsonServer } from './json-server.ts'
import { eventRow, idNumbered } from './own-crm.ts'
import { ConnectorFolder, SECRET, until } from './own-service.ts'

/** A connector with the fault that the CRM names. */
const MODULE = `
const asked = async ({ http, settings }) => http.get(\`\${settings.url}/mode\`)
const odd = (rows, more) => [...rows, { ...rows[0], id: rows[0].id.slice(0, -2) + '7f', ...more }]

export default {
  api: 1,
  settings: { url: 'url', token: 'secret' },
  events: {
    async *full(context) {
      const { http, settings } = context
      const { mode, rows } = await asked(context)
      if (mode === 'shape') return yield { items: rows }
      if (mode === 'total') return yield { rows, total: '2' }
      if (mode === 'lagMs') return yield { rows, lagMs: '60000' }
      if (mode === 'deleted') return yield { rows, deleted: [rows[0]] }
      if (mode === 'no id') return yield odd(rows, { id: undefined })
      if (mode === 'twice') return yield [...rows, { ...rows[0], name: 'other' }]
      if (mode === 'NaN') return yield odd(rows, { seats: 0 / 0 })
      if (mode === 'huge') return yield odd(rows, { name: 'x'.repeat(20_000_000) })
      if (mode === 'future') return yield odd(rows, { changed: '2099-01-01T00:00:00Z' })
      if (mode === 'pages') for (;;) yield rows
      if (mode === 'cursor') return yield* http.pages(\`\${settings.url}/pages\`, { by: 'cursor', at: 'next', rows: 'rows', query: { from: '{cursor}' } })
      if (mode === 'pause') await http.get(\`\${settings.url}/busy\`)
      if (mode === 'loop') for (;;);
      if (mode === 'floating') void Promise.reject(new RangeError('a row of ' + settings.token))
      if (mode === 'prints') console.log('the token is ' + settings.token)
      yield rows
    },
    async *since(context) {
      yield []
    },
    async *ids(context) {
      const { rows } = await asked(context)
      yield rows.map(({ id, changed }) => [id, changed])
    },
    updatedAt: 'changed',
    fields: { Id: 'id', Name: 'name', Start: 'starts', Finish: 'ends', TicketCapacity: 'seats', TicketsAvailable: 'sold', Price: null },
  },
  venues: { watch() { throw new Error('a row of mine') }, async *full() { yield [] }, fields: { Id: 'id', Name: 'name' } },
}
`

/** What is said of each fault; \`fails\`: the read, and so \`/status\` has the sentence. */
const FAULTS: readonly (readonly [mode: string, sentence: string, how: 'fails' | 'withholds' | 'noticed'])[] = [
  ['shape', 'events: full yielded something that is neither a list of rows nor { rows }', 'fails'],
  ['total', 'events: full yielded total as a string; it must be a number, such as total: 250', 'fails'],
  ['lagMs', 'events: full yielded lagMs as a string; it must be a number, such as lagMs: 250', 'fails'],
  ['deleted', 'events: full yielded a deleted id that is neither a text nor a number', 'fails'],
  ['no id', 'no-id', 'withholds'],
  [
    'twice',
    `events, id ${idNumbered(1)}: one answer has two different rows of this id; the later one counts`,
    'noticed',
  ],
  ['NaN', 'events: a row holds seats, which is NaN', 'fails'],
  ['huge', 'too-large', 'withholds'],
  ['future', 'updatedAt is in the future', 'noticed'],
  ['pages', 'events: page 2 has only rows of earlier pages; is paging.by right?', 'fails'],
  ['cursor', 'the same cursor came twice: the pages run in a circle', 'fails'],
  ['pause', 'asks for fewer requests (429)', 'noticed'],
  ['loop', 'our-crm.mjs sent nothing for 3 s, and was ended', 'fails'],
  ['floating', 'our-crm.mjs:25: a rejected promise that was not awaited (RangeError)', 'noticed'],
  // It throws always, and the lists are read all the same.
  ['watch', 'our-crm.mjs:39: watch of the venues threw Error', 'noticed'],
  ['prints', 'our-crm.mjs says: the token is [secret]', 'noticed'],
]

/** What check says in other words. */
const IN_CHECK: Readonly<Record<string, string>> = {
  'no id': '- id: 1 event, no valid id.',
  huge: '- The row: 1 event, larger than 256 KB.',
  pause: 'asks for fewer requests (429) until ',
}

describe('a planted fault', () => {
  let server: JsonServer
  let folder: ConnectorFolder
  let mode = 'good'
  const rows = [eventRow(1), eventRow(2)]

  beforeAll(async () => {
    server = await JsonServer.open(({ path }) => {
      if (path === '/busy') return { status: 429, headers: { 'retry-after': '120' } }
      if (path === '/pages') return { json: { rows: [eventRow(server.asked.length)], next: 'same' } }
      return { json: { mode, rows } }
    })
    folder = new ConnectorFolder(
      server,
      { 'our-crm.mjs': MODULE },
      'kind: module\npath: ./our-crm.mjs',
      'snapshot: null',
    )
  })

  afterAll(async () => {
    await server.close()
    folder[Symbol.dispose]()
  })

  it.each(inTurn(FAULTS))('has its sentence in check on %s: %s', async (runtime, fault, sentence, how) => {
    mode = fault
    const { status, stdout, stderr } = await runCommand(['check', '--config', folder.configuration], { runtime })
    const said = stdout + stderr
    expect(said).toContain(IN_CHECK[fault] ?? sentence)
    expect([status === 0, said.includes(SECRET)]).toEqual([how !== 'fails' && fault !== 'pause', false])
  })

  it.each(inTurn(FAULTS, 1))(
    'has its sentence in the log on %s, and in /status if rows are withheld or the read fails: %s',
    async (runtime, fault, sentence, how) => {
      mode = fault
      const { child, listening } = await serve(runtime, folder.configuration)
      try {
        await until(() => child.stdout.includes(sentence))
        const { events } = await statusAt(String(listening.operations))
        if (how === 'fails') expect(events.lastError).toContain(sentence)
        if (how === 'withholds') expect(events.withheld).toBe(1)
        expect(child.stdout).not.toContain(SECRET)
      } finally {
        await child.stop()
      }
    },
  )
})

interface ListsStatus {
  readonly events: { readonly withheld: number; readonly lastError: string | null }
}

async function statusAt(operations: string): Promise<ListsStatus> {
  const response = await fetch(`${operations}status`)
  return ((await response.json()) as { readonly lists: ListsStatus }).lists
}
