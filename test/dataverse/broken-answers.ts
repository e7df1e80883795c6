import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import type { Socket } from 'node:net'
import type { RawAnswer } from './raw-front.ts'

const BOMB = gzipSync(Buffer.alloc(100_000_000, 32))

function answer(body: string | Buffer, headers = 'content-type: application/json\r\n'): Buffer {
  const bytes = Buffer.from(body)
  return Buffer.concat([Buffer.from(`HTTP/1.1 200 OK\r\n${headers}content-length: ${bytes.length}\r\n\r\n`), bytes])
}

/** A right answer's body, made into something else. */
const made =
  (make: (body: Buffer) => Buffer | string): RawAnswer =>
  (socket, body) =>
    void socket.write(make(body))
const text = (body: string): RawAnswer => made(() => answer(body))
const raw = (bytes: string): RawAnswer => made(() => bytes)
const packed = (pack: (body: Buffer) => Buffer, coding = 'gzip'): RawAnswer =>
  made((body) => answer(pack(body), `content-encoding: ${coding}\r\n`))
/** The right body, under another head. */
const under = (head: string): RawAnswer =>
  made((body) => `${head.replace('LENGTH', String(body.length))}${body.toString()}`)
const status = (line: string): RawAnswer => under(`HTTP/1.1 ${line}\r\ncontent-length: LENGTH\r\n\r\n`)
const headed = (headers: string): RawAnswer => made((body) => answer(body, headers))
const chunked = (rest: (body: Buffer) => string): RawAnswer =>
  made((body) => `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${rest(body)}`)
const ending =
  (given: RawAnswer): RawAnswer =>
  (socket, body) => {
    given(socket, body)
    socket.end()
  }
/** Sends the same again and again, for ever. */
const pouring =
  (start: string, part: string): RawAnswer =>
  (socket) => {
    socket.write(start)
    pour(socket, part)
  }

function pour(socket: Socket, part: string): void {
  if (socket.destroyed) return
  if (socket.write(part)) setImmediate(() => pour(socket, part))
  else socket.once('drain', () => pour(socket, part))
}

/** The right body, its links changed. */
const linked = (link: string): RawAnswer =>
  made((body) => {
    const origin = /http:\/\/127\.0\.0\.1:\d+/.exec(body.toString())?.[0] ?? 'http://none'
    const other = `"@odata.$1Link":"${link.replace('ORIGIN', origin)}"`
    return answer(body.toString().replaceAll(/"@odata\.(next|delta)Link":"[^"]*"/g, other))
  })

const half = (body: Buffer): Buffer => body.subarray(0, body.length / 2)
const spoilt = (zipped: Buffer): Buffer => {
  zipped.writeUInt8((zipped.at(-6) ?? 0) ^ 1, zipped.length - 6)
  return zipped
}
const sized = (body: Buffer, more = 0): string => `${(body.length + more).toString(16)}\r\n${body.toString()}`

type Answers = Readonly<Record<string, RawAnswer>>

/** Odd, and yet what HTTP and JSON allow, or nothing to be afraid of. */
export const ODD: Answers = {
  'JSON called HTML': headed('content-type: text/html\r\n'),
  'no type at all': headed(''),
  'a byte order mark': made((body) => answer(`\uFEFF${body.toString()}`)),
  'identity by name': headed('content-encoding: identity\r\n'),
  'br in name only': packed((body) => body, 'br'),
  'aws-chunked in name only': headed('content-encoding: aws-chunked\r\n'),
  GZIP: packed((body) => gzipSync(body), 'GZIP'),
  'x-gzip': packed((body) => gzipSync(body), 'x-gzip'),
  'no length, then the end': ending(under('HTTP/1.1 200 OK\r\n\r\n')),
  '201': status('201 Created'),
  '206': status('206 Partial Content'),
  '000': status('000 Odd'),
  'HTTP/1.0': ending(under('HTTP/1.0 200 OK\r\n\r\n')),
  '100 and then 200': made((body) => Buffer.concat([Buffer.from('HTTP/1.1 100 Continue\r\n\r\n'), answer(body)])),
  '103 and then 200': made((body) =>
    Buffer.concat([Buffer.from('HTTP/1.1 103 Early\r\nlink: </>\r\n\r\n'), answer(body)]),
  ),
}

/** A body that is no answer to any question. */
export const WRONG_BODIES: Answers = {
  'JSON cut short': made((body) => answer(half(body))),
  'nothing at all': text(''),
  blanks: text(' \n'),
  HTML: made(() => answer('<!doctype html><p>Sign in', 'content-type: text/html\r\n')),
  'HTML called JSON': text('<html></html>'),
  'an error with 200': text('{"error":{"code":"0x1","message":"no"}}'),
  null: text('null'),
  'a number': text('1e400'),
  'a text': text('"x"'),
  'a list': text('[[[]]]'),
  'no list as value': text('{"value":{}}'),
  'rows that are no objects': text('{"value":[1,null]}'),
  'too deep': text(`{"value":${'['.repeat(200_000)}`),
  'UTF-16': made((body) => answer(Buffer.from(body.toString(), 'utf16le'))),
  'no UTF-8': made(() => answer(Buffer.from([0x7b, 0xff, 0xfe, 0x7d]))),
  NULs: text('\0'.repeat(1000)),
  '300': status('300 Multiple Choices'),
  '304': raw('HTTP/1.1 304 Not Modified\r\n\r\n'),
  'a redirect to itself': raw('HTTP/1.1 302 Found\r\nlocation: /api/data/v9.2/\r\ncontent-length: 0\r\n\r\n'),
  '404': status('404 Not Found'),
  '418': status('418 Teapot'),
  '500': status('500 Internal'),
  '999': status('999 Odd'),
}

/** Bytes that are not HTTP as it should be. */
export const WRONG_FRAMES: Answers = {
  'gzip in name only': packed((body) => body),
  'gzip cut short': packed((body) => half(gzipSync(body))),
  'gzip of nothing': packed(() => Buffer.alloc(0)),
  'gzip with a wrong sum': packed((body) => spoilt(gzipSync(body))),
  'gzip and more': packed((body) => Buffer.concat([gzipSync(body), Buffer.from('more')])),
  'gzip twice': packed((body) => gzipSync(gzipSync(body)), 'gzip, gzip'),
  'gzip unsaid': made((body) => answer(gzipSync(body))),
  'deflate unasked': packed((body) => deflateSync(body), 'deflate'),
  'br unasked': packed((body) => brotliCompressSync(body), 'br'),
  'a small answer that unpacks to 100 MB': packed(() => BOMB),
  'a length too short': made(
    (body) => `HTTP/1.1 200 OK\r\ncontent-length: ${body.length - 5}\r\n\r\n${body.toString()}`,
  ),
  'a length too long, then silence': made(
    (body) => `HTTP/1.1 200 OK\r\ncontent-length: ${body.length + 5}\r\n\r\n${body.toString()}`,
  ),
  'a length too long, then the end': ending(
    made((body) => `HTTP/1.1 200 OK\r\ncontent-length: ${body.length + 5}\r\n\r\n${body.toString()}`),
  ),
  'a negative length': under('HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n'),
  'a huge length': under('HTTP/1.1 200 OK\r\ncontent-length: 99999999999999999999\r\n\r\n'),
  'two lengths': under('HTTP/1.1 200 OK\r\ncontent-length: 3\r\ncontent-length: LENGTH\r\n\r\n'),
  'no length, then silence': under('HTTP/1.1 200 OK\r\n\r\n'),
  'chunks that stop': chunked((body) => `${sized(body)}\r\n`),
  'chunks that end early': ending(chunked((body) => `${sized(body)}\r\n`)),
  'half a chunk': ending(chunked((body) => sized(body, 9))),
  'a chunk of no size': chunked(() => 'zz\r\n{}\r\n0\r\n\r\n'),
  'a chunk of a huge size': chunked(() => 'ffffffffffffffffffff\r\n{}\r\n0\r\n\r\n'),
  'a chunk extension for ever': pouring('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2;', 'x'.repeat(65_536)),
  'trailers for ever': pouring(
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n',
    `x: ${'x'.repeat(1000)}\r\n`,
  ),
  '100 for ever': pouring('', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(100)),
  '100 alone': raw('HTTP/1.1 100 Continue\r\n\r\n'),
  '101': raw('HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\nx'),
  'a header of 10 MB': made((body) => answer(body, `x: ${'x'.repeat(10_000_000)}\r\n`)),
  '100,000 headers': made((body) => answer(body, 'a: b\r\n'.repeat(100_000))),
  'headers for ever': pouring('HTTP/1.1 200 OK\r\n', 'a: b\r\n'.repeat(1000)),
  'a NUL in a header': headed('x: a\0b\r\n'),
  'bare line feeds': under('HTTP/1.1 200 OK\ncontent-length: LENGTH\n\n'),
  'no head': ending(made((body) => body)),
  'another protocol': ending(raw('SSH-2.0-OpenSSH_9.6\r\n')),
  'HTTP/9.9': under('HTTP/9.9 200 OK\r\ncontent-length: LENGTH\r\n\r\n'),
  noise: made(() => Buffer.from(Array.from({ length: 5000 }, (_, index) => (index * 7919) & 255))),
  'an end at once': (socket) => void socket.end(),
  'a reset': (socket) => void socket.resetAndDestroy(),
  silence: () => {},
  'blanks for ever': pouring('HTTP/1.1 200 OK\r\n\r\n', ' '.repeat(65_536)),
}

/** Links that cannot be followed. */
export const WRONG_LINKS: Answers = {
  'a link with a blank': linked('ORIGIN/api/data/v9.2/msevtmgt_events?a b'),
  'a link with an umlaut': linked('ORIGIN/api/data/v9.2/msevtmgt_events?ü'),
  'a link with a line feed': linked('ORIGIN/api/data/v9.2/msevtmgt_events?\\n'),
  'a link of 1 MB': linked(`ORIGIN/${'x'.repeat(1_000_000)}`),
  'a link elsewhere': linked('https://evil.example/'),
  'a link without a host': linked('/api/data/v9.2/msevtmgt_events'),
  'a link of no scheme that is known': linked('javascript:alert(1)'),
  'an empty link': linked(''),
}

/** Rows and numbers that are as large as they can be. */
export const LARGE: Answers = {
  'a number of a million digits': text(`{"value":[{"msevtmgt_maximumeventcapacity":${'9'.repeat(1_000_000)}}]}`),
  'a number without end': text('{"value":[{"msevtmgt_maximumeventcapacity":1e999999999}],"expires_in":1e999}'),
  'two hundred thousand rows': text(`{"value":[${'{},'.repeat(199_999)}{}]}`),
  'a name of a million letters': text(`{"${'k'.repeat(1_000_000)}":1}`),
  'a value of a hundred thousand lists': text(`{"value":[{"msevtmgt_name":${'['.repeat(1e5)}${']'.repeat(1e5)}}]}`),
  prototypes: text('{"__proto__":{"value":[]},"constructor":1}'),
}
