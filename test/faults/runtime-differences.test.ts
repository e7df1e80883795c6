import { afterAll, beforeAll, describe, expect, it } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { LISTS } from '../contract/rows.ts'
import type { Runtime } from '../support/child.ts'
import { ROOT } from '../support/child.ts'
import { requestTo, TARGET } from './large-rows.ts'
import { RawConnection } from './raw-connection.ts'
import { Victim } from './victim.ts'
import { BOTH_RUNTIMES } from '../support/depth.ts'

const CHUNKED = 'Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n'
/** What comes after: whether the connection goes on. */
const NEXT = requestTo('/next')

function get(target: string, rest = '\r\n', version = 'HTTP/1.1'): string {
  return `GET ${target} ${version}\r\nHost: x\r\n${rest}`
}

/** A request whose head has so many bytes, or so many lines of headers. */
function headOf({ bytes = 0, lines = 1 }: { bytes?: number; lines?: number }): string {
  const more = Array.from({ length: lines - 1 }, (_, index) => `a${index}:\r\n`).join('')
  const empty = get(TARGET, `${more}\r\n`)
  return bytes === 0 ? empty : get(TARGET, `A: ${'a'.repeat(bytes - empty.length - 5)}\r\n\r\n`)
}

interface Difference {
  /** The first cell of the line in docs/operations.md. */
  readonly line: string
  readonly requests: readonly string[]
  /** The statuses that come back, one after the other; `closed` where the connection is closed then. */
  readonly bun: string
  readonly node: string
}

const DIFFERENCES: readonly Difference[] = [
  {
    line: 'a blank, a tab or a control character within the target, a bare line feed or carriage return, a version other than HTTP/1.0 and 1.1',
    requests: [
      get('/a b'),
      get('/a\tb'),
      get('/a\x01'),
      get('/a\0'),
      `GET ${TARGET} HTTP/1.1\nHost: x\n\n`,
      `GET ${TARGET} HTTP/1.1\rHost: x\r\r`,
      ...['HTTP/1.2', 'HTTP/2.0', 'http/1.1'].map((version) => get(TARGET, '\r\n', version)),
      `GET ${TARGET}\r\n\r\n`,
    ],
    bun: '505 closed',
    node: '400 closed',
  },
  {
    line: 'two blanks before the target, an empty line before the request',
    requests: [get(` ${TARGET}`), `\r\n${get(TARGET)}`],
    bun: '400 closed',
    node: '200 404',
  },
  {
    line: 'an unknown method, or one in lower case',
    requests: ['FOO', 'get', 'Get'].map((method) => get(TARGET).replace('GET', method)),
    bun: 'closed',
    node: '400 closed',
  },
  { line: '`CONNECT`', requests: [get(TARGET).replace('GET', 'CONNECT')], bun: '405 404', node: 'closed' },
  {
    line: 'DEL or a byte above 0x7f in the path',
    requests: [get('/a\x7f'), get('/a\x80'), get('/\xc3\xa9')],
    bun: '404 404',
    node: '400 closed',
  },
  { line: 'DEL in a header', requests: [get(TARGET, 'A: \x7f\r\n\r\n')], bun: '200 404', node: '400 closed' },
  {
    line: 'a trailer after a body',
    requests: [get(TARGET, `${CHUNKED}A: b\r\n\r\n`)],
    bun: '200 400 closed',
    node: '200 404',
  },
  {
    line: 'a `Transfer-Encoding` other than `chunked`',
    requests: ['identity', 'xchunked'].map((coding) => get(TARGET, `Transfer-Encoding: ${coding}\r\n\r\n`)),
    bun: '400 closed',
    node: '200 closed',
  },
  {
    line: '`Transfer-Encoding: gzip, chunked`',
    requests: [get(TARGET, 'Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n')],
    bun: '400 closed',
    node: '200 404',
  },
  {
    line: 'a body in broken chunks',
    requests: ['zz', 'fffffffffffffffff'].map((size) => get(TARGET, `Transfer-Encoding: chunked\r\n\r\n${size}\r\n`)),
    bun: '200 400 closed',
    node: '200 closed',
  },
  {
    line: 'the same `Content-Length` twice',
    requests: [get(TARGET, 'Content-Length: 0\r\nContent-Length: 0\r\n\r\n')],
    bun: '200 404',
    node: '400 closed',
  },
  {
    line: 'a request sent behind one with `Upgrade`, before that is answered',
    requests: ['websocket', 'h2c'].map((name) => get(TARGET, `Connection: Upgrade\r\nUpgrade: ${name}\r\n\r\n`)),
    bun: '200 404',
    node: '200 closed',
  },
  {
    line: 'a declared body of more than 128 MB',
    requests: [get(TARGET, 'Content-Length: 140000000\r\n\r\n').replace('GET', 'POST')],
    bun: '413 closed',
    node: '405',
  },
  {
    line: 'HTTP/1.0 with `Connection: keep-alive`',
    requests: [get(TARGET, 'Connection: keep-alive\r\n\r\n', 'HTTP/1.0')],
    bun: '200 closed',
    node: '200 404',
  },
  {
    line: 'a head a few bytes longer than 16 KB (16,384)',
    requests: [headOf({ bytes: 16_385 }), headOf({ bytes: 16_400 })],
    bun: '431 closed',
    node: '200 404',
  },
]

/** What both answer alike, though their parsers do not agree. */
const ALIKE: readonly (readonly [what: string, request: string, statuses: string])[] = [
  ['198 lines of headers', headOf({ lines: 198 }), '200 404'],
  ['199 lines of headers', headOf({ lines: 199 }), '431 closed'],
  ['a head of 16,384 bytes', headOf({ bytes: 16_384 }), '200 404'],
  ['a head of 16,500 bytes', headOf({ bytes: 16_500 }), '431 closed'],
  ['OPTIONS *', 'OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n', '400 closed'],
  ['another scheme', get(`ftp://a.example${TARGET}`), '400 closed'],
  ['an absolute form', get(`HTTPS://a.example${TARGET}`), '200 404'],
  ['a target without a slash', get('api/events'), '400 closed'],
  ['an expectation that nobody knows', get(TARGET, 'Expect: x\r\n\r\n'), '200 404'],
  ['a body in chunks', get(TARGET, `${CHUNKED}\r\n`), '200 404'],
]

/**
 * The statuses that come back to a request and the one after it, until the connection is closed or the second is
 * answered.
 */
async function statusesOf(port: number, request: string): Promise<string> {
  const connection = (await RawConnection.open(port)).read()
  // Nothing but the head of a large body is sent: nothing after it is a request.
  const isWhole = !/Content-Length: 1\d{8}/.test(request)
  connection.send(isWhole ? request + NEXT : request)
  const statuses = (text: string): string[] =>
    [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status ?? '')
  const received = await connection.until((text) => statuses(text).length === (isWhole ? 2 : 1) && text.endsWith('}'))
  const isClosed = connection.socket.destroyed
  connection.destroy()
  return [...statuses(received), ...(isClosed ? ['closed'] : [])].join(' ')
}

describe('differences between Bun and Node (docs/operations.md)', () => {
  let victims: Readonly<Record<Runtime, Victim>>
  beforeAll(async () => {
    const [bun, node] = await Promise.all(
      BOTH_RUNTIMES.map((runtime) => Victim.start(runtime, { limits: { idle: '2s' } }, LISTS)),
    )
    if (bun === undefined || node === undefined) throw new Error('there are two runtimes')
    victims = { bun, node }
  })
  afterAll(async () => {
    for (const runtime of BOTH_RUNTIMES) expect(await victims[runtime].stop()).toBe(0)
  })

  for (const { line, requests, bun, node } of DIFFERENCES) {
    it(`${line}: ${bun} on Bun, ${node} on Node`, async () => {
      for (const request of requests) {
        const head = request.slice(0, 60)
        expect([head, await statusesOf(victims.bun.port, request)]).toEqual([head, bun])
        expect([head, await statusesOf(victims.node.port, request)]).toEqual([head, node])
      }
    })
  }

  it.each(ALIKE)('%s is answered alike', async (_, request, statuses) => {
    for (const runtime of BOTH_RUNTIMES) {
      expect([runtime, await statusesOf(victims[runtime].port, request)]).toEqual([runtime, statuses])
    }
  })

  it('is listed there, line by line', () => {
    const page = readFileSync(join(ROOT, 'docs/operations.md'), 'utf8')
    const [, section = ''] = page.split('## Differences between Bun and Node\n')
    const cells = [...(section.split('\n## ')[0] ?? '').matchAll(/^\| (.*?) +\| /gm)].map(([, cell]) => cell)
    expect(cells.slice(1)).toEqual(DIFFERENCES.map(({ line }) => line))
  })
})
