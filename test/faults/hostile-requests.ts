import { EVENT } from '../contract/rows.ts'

const TARGET = `/api/events/${EVENT}`
/** The path of a request that hides in another's body or header: nobody may answer it. */
export const SMUGGLED = '/smuggled'

const HIDDEN = `GET ${SMUGGLED} HTTP/1.1\r\nHost: x\r\n\r\n`

export interface HostileRequest {
  readonly name: string
  readonly text: string
  /** The statuses that may come back, one after the other; '' is a connection that is closed without an answer. */
  readonly may: readonly string[]
  /** It leaves the connection open: the first answer is all there is to wait for. */
  readonly open?: true
}

const REFUSED = ['400', ''] as const
/** What Bun's parser says to a request line that it cannot read; nothing of ours is asked. */
const UNREADABLE = ['400', '', '505'] as const
const TOO_LARGE = ['431', '414', '413', ''] as const

/** Requests that no good client sends (RFC 9112 §11), and what may come of each. */
export const HOSTILE_REQUESTS: readonly HostileRequest[] = [
  request('Content-Length and Transfer-Encoding', REFUSED, {
    headers: ['Content-Length: 5', 'Transfer-Encoding: chunked'],
    body: `0\r\n\r\n${HIDDEN}`,
  }),
  request('Transfer-Encoding and Content-Length', REFUSED, {
    headers: ['Transfer-Encoding: chunked', `Content-Length: ${HIDDEN.length + 5}`],
    body: `0\r\n\r\n${HIDDEN}`,
  }),
  request('two different Content-Lengths', REFUSED, {
    headers: ['Content-Length: 0', `Content-Length: ${HIDDEN.length}`],
    body: HIDDEN,
  }),
  request('a list of Content-Lengths', REFUSED, { headers: [`Content-Length: 0, ${HIDDEN.length}`], body: HIDDEN }),
  request('a signed Content-Length', REFUSED, { headers: [`Content-Length: +${HIDDEN.length}`], body: HIDDEN }),
  request('a hexadecimal Content-Length', REFUSED, { headers: ['Content-Length: 0x10'], body: HIDDEN }),
  request('an empty Content-Length', REFUSED, { headers: ['Content-Length: '], body: HIDDEN }),
  request('a negative Content-Length', REFUSED, { headers: ['Content-Length: -1'], body: HIDDEN }),
  request('a Content-Length beyond all integers', [...REFUSED, '413'], {
    headers: ['Content-Length: 99999999999999999999999999'],
    body: HIDDEN,
  }),
  request('a blank before the colon', REFUSED, { headers: [`Content-Length : ${HIDDEN.length}`], body: HIDDEN }),
  // Node reads such a body to the end of the connection (RFC 9112 §6.3): nothing after it is a request.
  request('Transfer-Encoding of another kind', ['200', ...REFUSED], {
    headers: ['Transfer-Encoding: xchunked'],
    body: `0\r\n\r\n${HIDDEN}`,
  }),
  request('a chunk size that is none', ['200 400', '200', ...REFUSED], {
    headers: ['Transfer-Encoding: chunked'],
    body: `zz\r\n${HIDDEN}`,
  }),
  request('a folded header line (obs-fold)', REFUSED, {
    headers: ['Transfer-Encoding:', ' chunked'],
    body: `0\r\n\r\n${HIDDEN}`,
  }),
  {
    name: 'bare line feeds',
    text: `GET ${TARGET} HTTP/1.1\nHost: x\n\n`,
    may: UNREADABLE,
  },
  request('a bare line feed within the headers', REFUSED, { headers: [`A: b\nTransfer-Encoding: chunked`] }),
  request('a bare carriage return within the headers', REFUSED, { headers: ['A: b\rTransfer-Encoding: chunked'] }),
  request('a NUL in a header', REFUSED, { headers: ['A: \0'] }),
  request('a header without a name', REFUSED, { headers: [': x'] }),
  request('a header that is none', REFUSED, { headers: ['no colon at all'] }),
  request('two Hosts', ['200', ...REFUSED], { headers: ['Host: other.example'] }),
  { name: 'no Host', text: `GET ${TARGET} HTTP/1.1\r\nConnection: close\r\n\r\n`, may: REFUSED },
  { name: 'HTTP/1.0 without a Host', text: `GET ${TARGET} HTTP/1.0\r\n\r\n`, may: ['200'] },
  { name: 'HTTP/0.9', text: `GET ${TARGET}\r\n\r\n`, may: ['200', ...UNREADABLE] },
  { name: 'HTTP/2.0', text: `GET ${TARGET} HTTP/2.0\r\nHost: x\r\n\r\n`, may: ['200', ...UNREADABLE] },
  { name: 'the HTTP/2 preface', text: 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', may: UNREADABLE },
  { name: 'a TLS greeting', text: '\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03\r\n\r\n', may: UNREADABLE },
  ...['', '[::1:::', 'x]', 'a b', '\xff\xfe', '999.999.999.999:99999', 'h'.repeat(10_000)].map((host) => ({
    name: `the Host ${JSON.stringify(host.slice(0, 30))}`,
    text: `GET ${TARGET} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
    may: ['200', ...REFUSED],
  })),
  line('an absolute-form target', `GET http://other.example:99${TARGET}`, ['200']),
  line('an absolute form without a path', 'GET http://other.example', ['404']),
  line('an absolute form of a host that is none', `GET http://[${TARGET}`, ['200', '404', ...REFUSED]),
  line('another scheme', 'GET ftp://other.example/x', ['404', ...REFUSED]),
  line('CONNECT with an authority', 'CONNECT other.example:443', ['404', ...REFUSED]),
  line('CONNECT with a path', `CONNECT ${TARGET}`, ['404', '405', ...REFUSED]),
  line('OPTIONS *', 'OPTIONS *', ['404', ...REFUSED]),
  line('TRACE', `TRACE ${TARGET}`, ['405']),
  line('an unknown method', `FOO ${TARGET}`, ['405', ...REFUSED]),
  line('a method in lower case', `get ${TARGET}`, REFUSED),
  line('a method of 10,000 letters', `${'G'.repeat(10_000)} ${TARGET}`, [...REFUSED, '431']),
  line('bytes that are no UTF-8 in the path', 'GET /api/events/\xff\xfe\xc3', REFUSED),
  line('per cent signs that encode no UTF-8', 'GET /api/events/%ff%fe%c3', ['400']),
  line('a per cent sign alone', 'GET /api/events/%', ['400']),
  line('an encoded NUL', 'GET /api/events/%00', ['400']),
  line('a target of 15,000 bytes', `GET /api/events/${'a'.repeat(15_000)}`, ['400', ...TOO_LARGE]),
  line('a target of 1,000,000 bytes', `GET /${'a'.repeat(1_000_000)}`, TOO_LARGE),
  line('a query of 15,000 bytes', `GET ${TARGET}?${'a'.repeat(15_000)}`, ['200', ...TOO_LARGE]),
  line('10,000 slashes', `GET ${'/'.repeat(10_000)}`, ['404', ...TOO_LARGE]),
  line('10,000 steps up', `GET ${'/..'.repeat(3000)}`, ['404', ...TOO_LARGE]),
  request('headers of 1,000,000 bytes', TOO_LARGE, { headers: [`A: ${'a'.repeat(1_000_000)}`] }),
  request('10,000 headers', TOO_LARGE, { headers: Array.from({ length: 10_000 }, (_, index) => `A${index}: a`) }),
  request('an Accept of 15,000 commas', ['200'], { headers: [`Accept: ${','.repeat(15_000)}`] }),
  request('an Accept of 1,800 ranges', ['200'], { headers: [`Accept: ${'a/b;q=0,'.repeat(1800)}`] }),
  request('an Accept of an open quote', ['200'], { headers: [`Accept: a/b;c="${'\\'.repeat(10_000)}`] }),
  request('an Expect of another kind', ['200', '417', ...REFUSED], { headers: ['Expect: the-impossible'] }),
  request('Expect: 100-continue', ['100 200', '200'], { headers: ['Expect: 100-continue'] }),
  request('a body on GET', ['200'], { headers: ['Content-Length: 5'], body: 'hello' }),
  request('chunks on GET', ['200'], { headers: ['Transfer-Encoding: chunked'], body: '5\r\nhello\r\n0\r\n\r\n' }),
  {
    name: 'a declared body of 999,999,999 bytes that never comes',
    text: `POST ${TARGET} HTTP/1.1\r\nHost: x\r\nContent-Length: 999999999\r\n\r\n`,
    may: ['405', '413'],
    open: true,
  },
  {
    name: 'a declared body of a terabyte on GET',
    text: `GET ${TARGET} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000000\r\n\r\n`,
    may: ['200', '413'],
    open: true,
  },
  request('an upgrade to HTTP/2', ['200'], { headers: ['Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA'] }),
  request('__proto__ as a header', ['200'], { headers: ['__proto__: x', 'constructor: y', 'toString: z'] }),
]

function line(name: string, text: string, may: readonly string[]): HostileRequest {
  return { name, text: `${text} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`, may }
}

function request(
  name: string,
  may: readonly string[],
  { headers, body = '' }: { readonly headers: readonly string[]; readonly body?: string },
): HostileRequest {
  const lines = headers.map((header) => `${header}\r\n`).join('')
  return { name, text: `GET ${TARGET} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${lines}\r\n${body}`, may }
}
