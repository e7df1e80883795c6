import { afterEach, describe, expect, it } from 'bun:test'
import { PRESETS } from '../../src/cli/init.ts'
import { readTemplate } from '../../src/cli/templates/read-template.ts'
import type { Crm } from '../../src/sync/port.ts'
import { type Asked, JsonServer } from './json-server.ts'
import { type ApiLists, PRESET_SERVERS, presetLists } from './preset-servers.ts'
import { type ListRead, openConfigured, readList } from './replay.ts'

// Presets keep the promises that `check --connector` asks of users' connectors.

const NAMESPACE = '6f1f3c0e-5f0e-4c57-8a55-0d6c1c0a7e11'
const TOKENS = { DIRECTUS_TOKEN: 'secret-word', STRAPI_TOKEN: 'secret-word', AIRTABLE_TOKEN: 'secret-word' }
const left: { close(): unknown }[] = []
afterEach(async () => {
  for (const one of left.splice(0)) await one.close()
})

interface Opened {
  readonly crm: Crm
  readonly server: JsonServer
  readonly lists: ApiLists
}

/** Opens a preset, as `init` writes it, on a server that answers as its API does. */
async function open(preset: string, events = 230, venues = 120): Promise<Opened> {
  const lists = presetLists(preset, events, venues)
  const answer = PRESET_SERVERS.get(preset)
  if (answer === undefined) throw new Error(`no server answers as ${preset} does`)
  const server = await JsonServer.open((asked) => answer(lists, asked, server.url))
  const text = readTemplate(`${preset}.yaml`).replace('NAMESPACE', NAMESPACE)
  const crm = await openConfigured(`crm:\n${text.replace(/url: https:\/\/[^/\s]+/, `url: ${server.url}`)}`, TOKENS)
  left.push(crm, server)
  return { crm, server, lists }
}

async function findingsOf({ crm }: Opened): Promise<readonly string[]> {
  return ((await crm.conform?.(true)) ?? []).map(({ sentence }) => sentence)
}

it('is asked of each preset that init offers', () => {
  expect([...PRESET_SERVERS.keys()].toSorted()).toEqual(PRESETS.toSorted())
})

describe.each(PRESETS)('the preset %s, examined as a connector of one’s own', (preset) => {
  it('reads all pages of both lists', async () => {
    const { crm, server } = await open(preset)
    const [events, venues] = [await readList(crm.events), await readList(crm.venues)]
    expect([events.failure, idsOf(events)]).toEqual(['', 230])
    expect([venues.failure, idsOf(venues)]).toEqual(['', 120])
    expect(events.records.at(-1)).toMatchObject({ VenueId: venues.records[0]?.Id })
    // Marquee has two pages of events and one of venues.
    expect(server.asked.length).toBeGreaterThan(2)
  })

  it('keeps all promises', async () => {
    expect(await findingsOf(await open(preset))).toEqual([])
  })

  it('is found out if a later page has other rows at each read', async () => {
    const opened = await open(preset, 130, 1)
    const { server, lists } = opened
    const { events } = lists
    const { answer } = server
    let pages = 0
    server.answer = (asked) => {
      // The API loses another row before each of its answers.
      lists.events = isOfEvents(asked) ? events.filter((_, at) => at !== 60 + pages) : events
      if (isOfEvents(asked)) pages++
      return answer(asked)
    }
    const found = (await findingsOf(opened)).join('\n')
    expect(found).toContain('events: two full reads in a row returned different rows')
  })

  it('fails with a sentence if the API refuses the key', async () => {
    const opened = await open(preset)
    opened.server.answer = () => ({ status: 401, json: { error: 'secret-word' } })
    const found = (await findingsOf(opened)).join('\n')
    expect(found).toContain(`events: 127.0.0.1:${opened.server.port} refuses the key (401)`)
    expect(found).not.toContain('secret-word')
  })
})

/** How many rows a read brought: pages by offset overlap by one. */
function idsOf({ records }: ListRead<{ readonly Id: unknown }>): number {
  return new Set(records.map(({ Id }) => Id)).size
}

function isOfEvents({ path }: Asked): boolean {
  return /\/events$/i.test(path)
}
