import { afterAll, beforeAll, describe, expect, it } from 'bun:test'
import { EVENT, LISTS, VENUE } from './rows.ts'
import { accept, type Start, type Subject } from './subject.ts'

const XML =
  'xmlns:i="http://www.w3.org/2001/XMLSchema-instance" xmlns="http://schemas.datacontract.org/2004/07/EventsApi.Representations.V1"'

/** `/api/tags`, which `lists: on` brings, too. */
export function tagSentences(start: Start): void {
  describe('the tags of what is on', () => {
    let subject: Subject
    beforeAll(async () => {
      const events = [
        eventRow(1, ['Music', 'Free & easy'], 3, VENUE),
        eventRow(2, ['music', 'MUSIC', 'Talk'], 0, VENUE),
        eventRow(3, ['Music', 'Talk'], 5, EVENT),
        { ...eventRow(4, ['Past'], 5, VENUE), Start: '2016-07-12T19:30:00Z', Finish: '2016-07-12T20:30:00Z' },
        { ...eventRow(5, ['Draft'], 5, VENUE), ShowOnWeb: false },
        { ...eventRow(6, [], 5, VENUE), Start: '2036-08-12T19:30:00Z', Finish: '2036-08-12T20:30:00Z' },
      ]
      const settings = { lists: 'on', representation: { namespace: 'EventsApi' } }
      subject = await start(settings, { events: JSON.stringify(events), venues: '[]' })
    })
    afterAll(() => subject.stop())

    const countsOf = async (query: string): Promise<Record<string, number>> => {
      const { status, body } = await subject.ask(`/api/tags?${query}`)
      expect([query, status]).toEqual([query, 200])
      const { Tags } = JSON.parse(body) as { Tags: readonly { Tag: string; Count: number }[] }
      return Object.fromEntries(Tags.map(({ Tag, Count }) => [Tag, Count]))
    }

    it('have exactly these bytes in each of the four shapes', async () => {
      const bodies = {
        'application/json':
          '{"Tags":[{"Tag":"Music","Count":3},{"Tag":"Talk","Count":2},{"Tag":"Free & easy","Count":1}],"_links":[{"Rel":"self","Href":"~/tags","Title":null,"IsTemplated":false}],"_embedded":null}',
        'application/hal+json':
          '{"_links":{"self":{"href":"/tags"}},"_embedded":{"tag":[{"Tag":"Music","Count":3,"_links":{"events":{"href":"/events?tag=Music"}}},{"Tag":"Talk","Count":2,"_links":{"events":{"href":"/events?tag=Talk"}}},{"Tag":"Free & easy","Count":1,"_links":{"events":{"href":"/events?tag=Free%20%26%20easy"}}}]}}',
        'text/xml': `<ArrayOfTagRepresentation ${XML}><TagRepresentation><Count>3</Count><Tag>Music</Tag></TagRepresentation><TagRepresentation><Count>2</Count><Tag>Talk</Tag></TagRepresentation><TagRepresentation><Count>1</Count><Tag>Free &amp; easy</Tag></TagRepresentation></ArrayOfTagRepresentation>`,
        'application/hal+xml': `<?xml version="1.0" encoding="utf-8"?>
<resource rel="tags" href="/tags" name="tags">
<resource rel="tag" href="/events?tag=Music" name="tag">
  <Tag>Music</Tag>
  <Count>3</Count>
</resource>
<resource rel="tag" href="/events?tag=Talk" name="tag">
  <Tag>Talk</Tag>
  <Count>2</Count>
</resource>
<resource rel="tag" href="/events?tag=Free%20%26%20easy" name="tag">
  <Tag>Free &amp; easy</Tag>
  <Count>1</Count>
</resource>
</resource>`,
      }
      for (const [type, body] of Object.entries(bodies)) {
        const reply = await subject.ask('/api/tags', accept(type))
        expect([reply.status, reply.headers.get('content-type'), reply.body]).toEqual([
          200,
          `${type}; charset=utf-8`,
          body,
        ])
      }
      const none = 'from=2036-08-01'
      expect((await subject.ask(`/api/tags?${none}`)).body).toStartWith('{"Tags":[],"_links":')
      expect((await subject.ask(`/api/tags?${none}`, accept('text/xml'))).body).toBe(
        `<ArrayOfTagRepresentation ${XML} />`,
      )
      expect((await subject.ask(`/api/tags?${none}`, accept('application/hal+xml'))).body).toEndWith(
        'href="/tags?from=2036-08-01" name="tags">\n</resource>',
      )
    })

    it('count the served events that have not ended, by the filters of the list, and in any spelling of a tag', async () => {
      expect(await countsOf('')).toEqual({ Music: 3, Talk: 2, 'Free & easy': 1 })
      expect(await countsOf('from=0001-01-01')).toEqual({ Music: 3, Talk: 2, 'Free & easy': 1, Past: 1 })
      expect(await countsOf('from=0001-01-01&to=2020-01-01')).toEqual({ Past: 1 })
      expect(await countsOf('available=true')).toEqual({ Music: 2, Talk: 1, 'Free & easy': 1 })
      expect(await countsOf(`venue=${EVENT}`)).toEqual({ Music: 1, Talk: 1 })
      expect(await countsOf(`venue=${VENUE}&venue=${EVENT}&available=true`)).toEqual({
        Music: 2,
        Talk: 1,
        'Free & easy': 1,
      })
      // Of two spellings in one event each, the one that comes first in the order of code points.
      expect(await countsOf('from=2036-07-12T20:02Z&to=2036-07-12T20:02:30Z')).toEqual({ MUSIC: 1, Talk: 1 })
      for (const [tag, count] of Object.entries(await countsOf(''))) {
        const { body } = await subject.ask(`/api/events?tag=${encodeURIComponent(tag)}`)
        expect((JSON.parse(body) as { Events: unknown[] }).Events.length).toBe(count)
      }
    })

    it('answer to every spelling of their path, HEAD and OPTIONS, with the headers of lists', async () => {
      const { body, headers } = await subject.ask('/api/tags')
      for (const path of ['/tags', '/api/tags/', '/API/TAGS', '/x/../tags?', '/api/tags?&&']) {
        const reply = await subject.ask(path)
        expect([path, reply.status, reply.body, reply.headers.get('etag')]).toEqual([
          path,
          200,
          body,
          headers.get('etag'),
        ])
      }
      for (const path of ['/api/tags//', '/api/tags/x', '/api/tagsx', '/api/tag'])
        expect([path, (await subject.ask(path)).status]).toEqual([path, 404])
      expect(headers.get('cache-control')).toMatch(/^public, max-age=\d+$/)
      expect(headers.get('age')).toMatch(/^\d+$/)
      const head = await subject.ask('/api/tags', { method: 'HEAD' })
      expect([head.status, head.body, head.headers.get('etag')]).toEqual([200, '', headers.get('etag')])
      expect((await subject.ask('/api/tags', { method: 'OPTIONS' })).status).toBe(204)
      expect((await subject.ask('/api/tags', { method: 'POST' })).status).toBe(405)
    })

    it('refuse what the list refuses, and its other parameters', async () => {
      for (const query of [
        'from=tomorrow',
        'to=x',
        'venue=x',
        'available=false',
        'tag=Music',
        'limit=5',
        'after=x',
        'x=1',
      ]) {
        const reply = await subject.ask(`/api/tags?${query}`)
        const [name = ''] = query.split('=')
        expect([query, reply.status, reply.body.includes(name)]).toEqual([query, 400, true])
      }
    })

    it('change with the list', async () => {
      const alone = await start({ lists: 'on', freshness: { refreshEvery: '100ms' } }, LISTS)
      try {
        const first = await alone.ask('/api/tags')
        expect(first.body).toContain('{"Tag":"Dinner","Count":4}')
        alone.directory.write('events', JSON.stringify([eventRow(1, ['New'], 1, VENUE)]))
        for (;;) {
          const next = await alone.ask('/api/tags')
          if (next.body.includes('"Tag":"New"')) break
          await new Promise((resolve) => setTimeout(resolve, 20))
        }
      } finally {
        await alone.stop()
      }
    })
  })

  describe('the tags of what is on, otherwise', () => {
    it('are nothing while lists are off, and 502 before the first read', async () => {
      const off = await start({ lists: 'off' }, LISTS)
      for (const path of ['/api/tags', '/tags', '/api/tags?x']) expect((await off.ask(path)).status).toBe(404)
      await off.stop()
      const early = await start({ lists: 'on', limits: { waitFor: '50ms' } }, null)
      expect((await early.ask('/api/tags')).status).toBe(502)
      await early.stop()
    })

    it('answer 304, and link under the base path', async () => {
      const settings = { lists: 'on', conditionalRequests: true, listen: { basePath: '/on' } }
      const subject = await start(settings, LISTS)
      const first = await subject.ask('/on/api/tags', accept('application/hal+json'))
      expect(first.body).toContain('"href":"/on/events?tag=Dinner"')
      const headers = [
        ['If-None-Match', first.headers.get('etag') ?? ''],
        ['Accept', 'application/hal+json'],
      ] as const
      expect((await subject.ask('/on/tags', { headers })).status).toBe(304)
      await subject.stop()
    })
  })
}

function eventRow(index: number, Tags: readonly string[], TicketsAvailable: number, VenueId: string): object {
  return {
    Id: `a0000000-0000-4000-8000-00000000000${index}`,
    Name: `Event ${index}`,
    VenueId,
    TicketsAvailable,
    Start: `2036-07-12T20:0${index}:00Z`,
    Finish: `2036-07-12T20:0${index}:00Z`,
    Price: 1,
    Tags,
    ShowOnWeb: true,
  }
}
