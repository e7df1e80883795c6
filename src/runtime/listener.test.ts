import { expect, it } from 'bun:test'
import { pathnameOfUrl } from './listener.ts'

it.each([
  ['http://h/api/events?from=/x', '/api/events'],
  ['http://h?from=/api/events', '/'],
  ['http://h', '/'],
  ['/api/events?from=http://h/x', '/api/events'],
])('the path of %s is %s: a slash of the query belongs to no path', (url, path) => {
  expect(pathnameOfUrl(url)).toBe(path)
})
