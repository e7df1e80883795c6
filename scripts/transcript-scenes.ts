import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Settings } from '../test/support/files-directory.ts'
import { MEDIA_TYPES } from '../src/formats/media-types.ts'

export interface Shot {
  readonly says: string
  readonly method?: string
  readonly path: string
  readonly headers?: readonly (readonly [string, string])[]
}

/** Requests to one service. Its CRM is the sample, or none. */
export interface Scene {
  readonly title: string
  readonly settings: Settings
  readonly crm: 'sample' | 'none'
  readonly shots: readonly Shot[]
}

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8'
const NEVER = '00000000-0000-4000-8000-000000000000'
const EVENT = idOf('events', 'Rope & Reel: an evening of sea songs')
const DRAFT = idOf('events', 'Spring season launch (draft: line-up not signed off)')
const NO_VENUE = idOf('events', 'Travelling Library: next stop to be announced')
const AT_CLOSED_VENUE = idOf('events', 'Corn Exchange Reopening Gala')
const VENUE = idOf('venues', 'Lantern Hall')
const CLOSED = idOf('venues', 'The Old Corn Exchange')

const EVENT_PATH = `/api/events/${EVENT}`
const ENDPOINTS = [
  ['An event', EVENT_PATH],
  ['The venue of an event', `${EVENT_PATH}/venue`],
  ['A venue', `/api/venues/${VENUE}`],
] as const

const records: readonly Scene[] = ENDPOINTS.map(([title, path]) => ({
  title,
  settings: {},
  crm: 'sample',
  shots: MEDIA_TYPES.map((type) => ({ says: type, path, headers: [['Accept', type]] })),
}))

export const SCENES: readonly Scene[] = [
  ...records,
  {
    title: 'Other ways to ask',
    settings: {},
    crm: 'sample',
    shots: [
      { says: 'Without `Accept`, and without `/api`, as in links', path: `/events/${EVENT}` },
      { says: 'The `Accept` of a browser', path: EVENT_PATH, headers: [['Accept', BROWSER]] },
      {
        says: 'Another form of the id, a slash at the end, a query',
        path: `/API/Events/%7B${EVENT.toUpperCase()}%7D/?utm=x`,
      },
      { says: 'HEAD: the headers of GET', method: 'HEAD', path: EVENT_PATH },
      {
        says: 'OPTIONS: a CORS preflight',
        method: 'OPTIONS',
        path: EVENT_PATH,
        headers: [
          ['Origin', 'https://www.example.org'],
          ['Access-Control-Request-Method', 'GET'],
        ],
      },
    ],
  },
  {
    title: 'Errors',
    settings: {},
    crm: 'sample',
    shots: [
      { says: '400: the id is malformed', path: '/api/events/42' },
      { says: '400: the id is absent', path: '/api/events//venue' },
      { says: '400 to an XML client', path: '/api/venues/null', headers: [['Accept', 'application/xml']] },
      { says: '404: there is no such event', path: `/api/events/${NEVER}` },
      { says: '404: a draft gets the same answer as an id that never existed', path: `/api/events/${DRAFT}` },
      { says: '404: no venue is assigned yet', path: `/api/events/${NO_VENUE}/venue` },
      {
        says: '404: the event’s venue is not published',
        path: `/api/events/${AT_CLOSED_VENUE}/venue`,
        headers: [['Accept', 'application/hal+xml']],
      },
      { says: '404: a venue that is not published', path: `/api/venues/${CLOSED}` },
      {
        says: '404: an unknown path, escaped in the answer',
        path: '/<script>?q',
        headers: [['Accept', 'text/xml']],
      },
      {
        says: '404 with the caller’s trace id',
        path: '/favicon.ico',
        headers: [['traceparent', '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01']],
      },
      { says: '405: a method other than GET, HEAD and OPTIONS', method: 'DELETE', path: EVENT_PATH },
    ],
  },
  {
    title: 'While the CRM cannot be read',
    settings: {},
    crm: 'none',
    shots: [
      { says: '502: the data is too old to be served', path: EVENT_PATH },
      { says: '502 to an XML client', path: `${EVENT_PATH}/venue`, headers: [['Accept', 'application/hal+xml']] },
      { says: '400: a malformed request does not depend on the CRM', path: '/api/venues' },
    ],
  },
  {
    title: 'With `conditionalRequests: true`',
    settings: { conditionalRequests: true },
    crm: 'sample',
    shots: [{ says: '304: nothing has changed', path: EVENT_PATH, headers: [['If-None-Match', '*']] }],
  },
  {
    title: 'With `listen.basePath: /whats-on`',
    settings: { listen: { basePath: '/whats-on' } },
    crm: 'sample',
    shots: [
      {
        says: 'Links in HAL begin with the base path',
        path: `/whats-on/api/events/${EVENT}`,
        headers: [['Accept', 'application/hal+json']],
      },
    ],
  },
]

function idOf(list: 'events' | 'venues', name: string): string {
  const rows = JSON.parse(readFileSync(join(import.meta.dirname, '../sample', `${list}.json`), 'utf8')) as {
    Id: string
    Name: string
  }[]
  const row = rows.find(({ Name }) => Name === name)
  if (row === undefined) throw new Error(`the sample has no ${list} row named ${name}`)
  return row.Id
}
