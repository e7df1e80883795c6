import { afterAll, beforeAll, describe, expect, it } from 'bun:test'
import halfred from 'halfred'
import { Client } from 'ketting'
import type { Runtime } from '../support/child.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import type { MarqueeProcess } from '../support/marquee-process.ts'
import { serve } from '../support/marquee-process.ts'

const EVENT = '7a1c8f52-3b60-4e9d-a1f4-0c5be2d98761'
const VENUE = '5b7d21f0-c8e4-4f36-9a07-e6d13b9c4a58'

const LISTS = {
  events: JSON.stringify([
    {
      Id: EVENT,
      Name: 'Annual Dinner',
      VenueId: VENUE,
      Start: '2036-07-12T19:30:00+01:00',
      Finish: '2036-07-12T23:00:00+01:00',
      Price: '12.50',
      ShowOnWeb: true,
      Links: [
        { Rel: 'tickets', Href: 'https://tickets.example.org/book{?seats}', Title: 'Book' },
        { Rel: 'sponsor', Href: 'https://one.example.org/' },
        { Rel: 'sponsor', Href: 'https://two.example.org/' },
      ],
    },
  ]),
  venues: JSON.stringify([{ Id: VENUE, Name: 'Guildhall' }]),
}

describe.each([
  ['bun', '/'],
  ['bun', '/whats-on'],
  ['node', '/'],
  ['node', '/whats-on'],
] as const)(
  'HAL clients read Marquee on %s under the base path %s (contract §2.1, §3)',
  (runtime: Runtime, basePath) => {
    const directory = new FilesDirectory({ listen: { basePath } }, LISTS)
    let marquee: MarqueeProcess
    let root = ''
    beforeAll(async () => {
      marquee = await serve(runtime, directory.configuration)
      root = new URL(basePath === '/' ? '/' : `${basePath}/`, marquee.listening.address).href
    })
    afterAll(async () => {
      await marquee.child.stop()
      directory.remove()
    })

    it('ketting gets an event and follows venue, and knows its links', async () => {
      const client = new Client(root)
      const event = client.go<{ Name: string; Price: number }>(`api/events/${EVENT}`)
      const state = await event.get()
      expect(state.data).toMatchObject({ Name: 'Annual Dinner', Price: 12.5 })
      const venue = await event.follow<{ Name: string }>('venue')
      expect(venue.uri).toBe(`${root}events/${EVENT}/venue`)
      expect((await venue.get()).data.Name).toBe('Guildhall')
      const self = await event.follow<{ Name: string }>('self')
      expect([self.uri, (await self.get()).data.Name]).toEqual([`${root}events/${EVENT}`, 'Annual Dinner'])
      expect(state.links.getMany('sponsor').map(({ href }) => href)).toEqual([
        'https://one.example.org/',
        'https://two.example.org/',
      ])
      const tickets = state.links.get('tickets')
      expect([tickets?.title, tickets?.templated]).toEqual(['Book', true])
      expect((await event.follow('tickets', { seats: '2' })).uri).toBe('https://tickets.example.org/book?seats=2')
      const ofVenue = await venue.follow<{ Name: string }>('self')
      expect(ofVenue.uri).toBe(`${root}venues/${VENUE}`)
      expect((await ofVenue.get()).data.Name).toBe('Guildhall')
    })

    it('ketting is told of an event that is not there by a problem', async () => {
      const missing = new Client(root).go('api/events/00000000-0000-4000-8000-000000000000')
      const refusal: unknown = await missing.get().catch((error: unknown) => error)
      expect(refusal).toMatchObject({ status: 404, body: { title: 'Not Found', status: 404 } })
    })

    it('halfred parses an event and follows venue', async () => {
      const asked = { headers: { Accept: 'application/hal+json' } }
      const address = new URL(`api/events/${EVENT}`, root)
      halfred.enableValidation()
      const event = halfred.parse(await (await fetch(address, asked)).json())
      expect(event.validationIssues()).toEqual([])
      const self = `${new URL(root).pathname}events/${EVENT}`
      expect([event['Name'], event.link('self')?.href]).toEqual(['Annual Dinner', self])
      expect(event.linkArray('sponsor')).toHaveLength(2)
      expect(event.link('tickets')).toMatchObject({ templated: true, title: 'Book' })
      const followed = await fetch(new URL(event.link('venue')?.href ?? '', address), asked)
      const venue = halfred.parse(await followed.json())
      expect([followed.status, venue['Name'], venue['Id']]).toEqual([200, 'Guildhall', VENUE])
    })
  },
)
