import { guidOf } from '../model/records.ts'
import { requestText } from '../contract/over-http.ts'
import { HOSTILE_REQUESTS } from './hostile-requests.ts'

interface OddRequest {
  readonly name: string
  readonly text: string
}

/** An event that the attacker's requests name, and a venue that all events name. */
export const ODD_EVENT: string = guidOf(1)
export const ODD_VENUE: string = guidOf(2)
const TARGET = `/api/events/${ODD_EVENT}`

/** Methods that are none of Marquee's. Runtimes close the connection on some of them without an answer. */
export const OTHER_METHODS = [
  'FOO',
  'POST',
  'PUT',
  'DELETE',
  'PATCH',
  'PURGE',
  'PROPFIND',
  'QUERY',
  'BREW',
  'X-Y_Z',
] as const

const FIFTY_VENUES = Array.from({ length: 50 }, (_, index) => `venue=${guidOf(1000 + index)}`).join('&')

/** Requests of one caller that must not cost another one an answer, whichever proxy is in front. */
export const ODD_REQUESTS: readonly OddRequest[] = [
  ...HOSTILE_REQUESTS,
  ...OTHER_METHODS.map((method) => ({ name: method, text: requestText(TARGET, { method }) })),
  ...OTHER_METHODS.map((method) => ({ name: `${method} again`, text: requestText('/nothing', { method }) })),
  {
    name: 'CONNECT host:80',
    text: 'CONNECT host:80 HTTP/1.1\r\nHost: host:80\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n',
  },
  { name: 'CONNECT with an absolute URL', text: requestText('http://host/api/events', { method: 'CONNECT' }) },
  { name: 'PRI in the midst', text: requestText('*', { method: 'PRI' }) },
  ...[1, 2, 3].map((time) => ({
    name: `a list whose Link is long, time ${time}`,
    text: requestText(`/api/events?venue=${ODD_VENUE}&${FIFTY_VENUES}&limit=1`),
  })),
  ...[3949, 3942, 3941, 3940, 3000].map((length) => ({
    name: `a list whose Link has a tag of ${length} characters`,
    text: requestText(`/api/events?tag=all&tag=${'a'.repeat(length)}&limit=1`),
  })),
  {
    name: 'a list whose Link would be ten times the query',
    text: requestText(`/api/events?limit=1&tag=${'+'.repeat(3400)}`),
  },
  ...['GET', 'OPTIONS', 'POST'].flatMap((method) =>
    ['application/json', 'odd/type'].map((accept) => ({
      name: `${method} with a trailer, Accept ${accept}`,
      text: `${requestText(TARGET, {
        method,
        headers: [
          ['Accept', accept],
          ['Transfer-Encoding', 'chunked'],
          ['Trailer', 'X'],
        ],
      })}5\r\nhello\r\n0\r\nX: y\r\n\r\n`,
    })),
  ),
  ...[8, 12, 15, 17, 30].map((kilobytes) => ({
    name: `headers of ${kilobytes} KB in lines of 1,000 bytes`,
    text: requestText(TARGET, {
      headers: Array.from({ length: kilobytes }, (_, index) => [`X-${index}`, 'x'.repeat(1000)] as const),
    }),
  })),
  ...[60, 150, 250, 1000].map((count) => ({
    name: `${count} lines of headers, Accept of another kind`,
    text: requestText(TARGET, {
      headers: [['Accept', 'odd/type'], ...Array.from({ length: count }, (_, index) => [`X${index}`, ''] as const)],
    }),
  })),
  ...[5000, 7000, 8000].map((length) => ({
    name: `a target, an Accept and a traceparent of ${length} bytes each`,
    text: requestText(`${TARGET}?${'x'.repeat(length)}`, {
      headers: [
        ['Accept', 'a'.repeat(length)],
        ['traceparent', '0'.repeat(length)],
      ],
    }),
  })),
  { name: 'a DEL in Accept', text: requestText(TARGET, { headers: [['Accept', '\x7f']] }) },
  { name: 'a control character in Accept', text: requestText(TARGET, { headers: [['Accept', '\x01']] }) },
  { name: 'bytes above 0x7f in the target', text: requestText('/api/events?tag=\xff\xe9') },
  { name: 'an absolute URL without a path, with a query', text: requestText('http://other.example?x') },
  { name: 'a fragment', text: requestText(`${TARGET}#x?y`) },
  {
    name: 'a WebSocket',
    text: requestText(TARGET, {
      headers: [
        ['Upgrade', 'websocket'],
        ['Sec-WebSocket-Version', '13'],
        ['Sec-WebSocket-Key', 'dGhlIHNhbXBsZSBub25jZQ=='],
      ],
    }),
  },
  { name: 'a request that is not read to its end', text: requestText('/api/events?limit=200') },
]
