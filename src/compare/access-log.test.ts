import { describe, expect, it } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { WorkFolder } from '../../test/commands/work-folder.ts'
import { readAccessLog } from './access-log.ts'

const ID = '7e016ac6-5cee-4fd6-be12-faa34a6761ef'

/** Reads a log, and returns what it asks as `2 GET /path text/xml`. */
async function questionsIn(lines: readonly string[], basePath = ''): Promise<readonly string[]> {
  using folder = new WorkFolder({ log: lines.join('\n') })
  const { questions } = await readAccessLog(folder.at('log'), basePath, ['*/*'])
  return questions.map(({ method, path, accept, weight }) => `${weight} ${method} ${path} ${accept}`)
}

describe('combined logs', () => {
  it.each([
    [
      'nginx',
      `203.0.113.7 - - [10/Oct/2036:13:55:36 +0000] "GET /api/events/${ID} HTTP/1.1" 200 512 "-" "curl/8"`,
      `1 GET /api/events/${ID} */*`,
    ],
    [
      'IPv6 and a user with a blank',
      `2001:db8::1 - jo smith [10/Oct/2036:13:55:36 +0000] "GET /venues/${ID} HTTP/2.0" 404 - "-" "-"`,
      `1 GET /venues/${ID} */*`,
    ],
    [
      'Apache with the virtual host',
      `www.example.org:443 203.0.113.7 - - [10/Oct/2036:13:55:36 +0000] "HEAD /api/events/${ID}/venue HTTP/1.1" 200 0 "-" "-"`,
      `1 HEAD /api/events/${ID}/venue */*`,
    ],
    [
      'the common format, without a referrer',
      `203.0.113.7 - - [10/Oct/2036:13:55:36 +0000] "GET /api/events/${ID} HTTP/1.1" 200 512`,
      `1 GET /api/events/${ID} */*`,
    ],
    [
      'an Accept after the user agent',
      `203.0.113.7 - - [10/Oct/2036:13:55:36 +0000] "GET /api/events/${ID} HTTP/1.1" 200 512 "-" "a/b" "text/xml;q=0.5, */*;q=0.1" "203.0.113.9"`,
      `1 GET /api/events/${ID} text/xml;q=0.5, */*;q=0.1`,
    ],
    [
      'a user agent with quotes',
      `203.0.113.7 - - [10/Oct/2036:13:55:36 +0000] "GET /api/events/${ID} HTTP/1.1" 200 512 "-" "x \\"text/xml\\" y"`,
      `1 GET /api/events/${ID} */*`,
    ],
    [
      'a whole URL as its target',
      `203.0.113.7 - - [10/Oct/2036:13:55:36 +0000] "GET http://old.example.org/api/events/${ID} HTTP/1.1" 200 512 "-" "-"`,
      `1 GET /api/events/${ID} */*`,
    ],
    [
      'an id with escaped bytes',
      String.raw`203.0.113.7 - - [10/Oct/2036:13:55:36 +0000] "GET /api/events/f\xC3\xBCr\x22 HTTP/1.1" 400 0 "-" "-"`,
      '1 GET /api/events/f%C3%BCr" */*',
    ],
    [
      'an id in its own spelling',
      `203.0.113.7 - - [10/Oct/2036:13:55:36 +0000] "GET /API/Events/%7b${ID.toUpperCase()}%7D/ HTTP/1.1" 200 1 "-" "-"`,
      `1 GET /API/Events/%7b${ID.toUpperCase()}%7D/ */*`,
    ],
  ])('%s', async (_, line, expected) => {
    expect(await questionsIn([line])).toEqual([expected])
  })

  it('takes the path below the base path, in any case, and leaves out all others', async () => {
    const line = (path: string): string =>
      `203.0.113.7 - - [10/Oct/2036:13:55:36 +0000] "GET ${path} HTTP/1.1" 200 1 "-" "-"`
    const paths = [
      `/CRM/api/events/${ID}`,
      `/api/events/${ID}`,
      '/crm/admin/delete?id=1',
      '/crm/api/events/..',
      '/crm/api/events/%2E%2e/',
      '/crm/api/events',
      `/crm/api/eventsx/${ID}`,
    ]
    expect(await questionsIn(paths.map(line), '/crm')).toEqual([`1 GET /api/events/${ID} */*`, '1 GET /api/events */*'])
  })

  it('leaves out path parameters, and asks an address in the place of an id as malformed', async () => {
    const line = (path: string): string => `h - - [10/Oct/2036:13:55:36 +0000] "GET ${path} HTTP/1.1" 200 1 "-" "-"`
    const paths = [
      `/api/events/${ID};jsessionid=5DA4;a=b/venue;c?d=e`,
      '/api/events/otto@example.org',
      '/api/venues/otto%40example.org/',
    ]
    expect(await questionsIn(paths.map(line))).toEqual([
      `1 GET /api/events/${ID}/venue */*`,
      '1 GET /api/events/malformed */*',
      '1 GET /api/venues/malformed/ */*',
    ])
  })

  it('counts what is asked more than once, the most frequent first, and cannot read other lines', async () => {
    const line = (id: string): string =>
      `h - - [10/Oct/2036:13:55:36 +0000] "GET /api/events/${id}?a=b HTTP/1.1" 200 1 "-" "-"`
    using folder = new WorkFolder({
      log: gzipSync([line('a'), line('b'), 'x', '', line('b'), '"GET / HTTP/1.1"', 'y'.repeat(20_000)].join('\n')),
    })
    const { questions, ...rest } = await readAccessLog(folder.at('log'), '', ['text/xml', 'text/json'])
    expect(questions.map(({ path, accept, weight }) => [path, accept, weight])).toEqual([
      ['/api/events/b', 'text/xml', 2],
      ['/api/events/b', 'text/json', 2],
      ['/api/events/a', 'text/xml', 1],
      ['/api/events/a', 'text/json', 1],
    ])
    expect(rest).toEqual({ requests: 3, others: 0, unreadable: 3, withQuery: 3 })
  })

  it('rejects gzip that is cut off', async () => {
    using folder = new WorkFolder({ log: gzipSync('x\n'.repeat(5000)).subarray(0, 30) })
    const failure = await readAccessLog(folder.at('log'), '', ['*/*']).catch((cause: unknown) => cause)
    expect(failure).toBeInstanceOf(Error)
  })
})

describe('W3C logs', () => {
  it('reads the fields that the log names, in any order, again after each head', async () => {
    const lines = [
      '#Version: 1.0',
      '#Fields: date time s-ip cs-method cs-uri-stem cs-uri-query c-ip cs(User-Agent) cs(Accept) sc-status',
      `2036-10-10 13:55:36 10.0.0.1 GET /api/events/${ID} a=b 203.0.113.7 Mozilla/5.0+(x) application/hal+json,+*/*;+q=0.1 200`,
      `2036-10-10 13:55:36 10.0.0.1 POST /api/events/${ID} - 203.0.113.7 - - 405`,
      '2036-10-10 13:55:36 10.0.0.1 GET',
      '#Fields: cs-uri-stem cs-method',
      `/api/venues/${ID} HEAD`,
    ]
    expect(await questionsIn(lines)).toEqual([
      `1 GET /api/events/${ID} application/hal+json, */*; q=0.1`,
      `1 HEAD /api/venues/${ID} */*`,
    ])
  })
})
