import { describe, expect, it } from 'bun:test'
import fc from 'fast-check'
import { pathnameOfUrl } from '../runtime/listener.ts'
import { Router } from './route.ts'

const ID = '5f6c2a3e-8d0b-4c57-9e21-0a4b7d9c1e34'

describe('a path spelt like our own links', () => {
  const router = new Router('/')

  it.each([
    [`/api/events/${ID}`, 'event'],
    [`/api/venues/${ID}`, 'venue'],
    [`http://events.example.org/api/events/${ID}`, 'event'],
    [`http://[::1]:8080/api/venues/${ID}`, 'venue'],
  ] as const)('%s is recognized at once', (target, resource) => {
    expect(router.routeAsLinked(target)).toEqual({ resource, id: ID as never })
  })

  it.each([
    `/events/${ID}`,
    `/api/events/${ID}/`,
    `/api/events/${ID}?x=1`,
    `/api/events/${ID}/venue`,
    `/x/api/events/${ID}`,
    `http://h/x/api/events/${ID}`,
    `http://h?/api/events/${ID}`,
    `http://h/?/api/events/${ID}`,
    `/http://h/api/events/${ID}`,
    `//h/http://h/api/events/${ID}`,
    `h/api/events/${ID}`,
    `/API/events/${ID}`,
    '/api/events/00000000-0000-0000-0000-000000000000',
    `/api/events/${ID.slice(1)}`,
    `/api/events/%${ID.slice(1)}`,
  ])('%s needs the full parser', (target) => {
    expect(router.routeAsLinked(target)).toBeNull()
  })

  it('gets the same route as from the full parser', () => {
    const part = fc.constantFrom(
      '/',
      '/api',
      '/events',
      '/venues',
      '/venue',
      `/${ID}`,
      ID,
      '..',
      '?',
      '#',
      '//',
      'h',
      '%2F',
    )
    const spelt = fc.oneof(fc.constantFrom('/api/events/', '/api/venues/', '/Sub/api/events/'), fc.string())
    const target = fc.oneof(
      fc.array(part, { maxLength: 6 }).map((parts) => parts.join('')),
      fc.tuple(
        fc.constantFrom('', 'http://', 'http://h', '/http://h', 'x'),
        fc.array(part, { maxLength: 2 }),
        spelt,
        part,
      ),
    )
    fc.assert(
      fc.property(target, fc.constantFrom('/', '/Sub'), (given, basePath) => {
        const text = typeof given === 'string' ? given : given.flat().join('')
        const any = new Router(basePath)
        const told = any.routeAsLinked(text)
        if (told !== null) expect(told).toEqual(any.route(pathnameOfUrl(text)) as never)
      }),
      { numRuns: 3000 },
    )
  })
})
