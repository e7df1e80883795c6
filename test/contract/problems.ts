import { describe, expect, it } from 'bun:test'
import { readElements } from '../support/read-xml.ts'
import { EVENT, NEVER } from './rows.ts'
import { accept, type Subject } from './subject.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'

const HOSTILE = [
  '/<script>alert(1)</script>',
  '/api/events/<b>&amp;"\'</b>',
  '/api/events/%3Cscript%3Ealert(1)%3C/script%3E',
  '/api/events/%22%2C%22status%22%3A200',
  '/"},{"',
  '/]]>&lt;![CDATA[x]]>',
  "/'&amp;|^`{}~$!*()+,;=:@[]",
  '/%00%01%0A%0D%09%7F%EF%BF%BE',
  '/%E2%80%A8%u2028',
  '/api/events/%C3%28/..%2f..%2fetc%2fpasswd',
  `/api/venues/${'a&<'.repeat(500)}`,
]

export function problemSentences(subject: () => Subject, hasLists: boolean): void {
  describe('problem details (contract §1.5)', () => {
    const cases = [
      ['/nothing', 404, 'Not Found'],
      [`/api/events/${NEVER}`, 404, 'Not Found'],
      [`/api/events/${NEVER}/venue`, 404, 'Not Found'],
      [`/api/venues/${NEVER}`, 404, 'Not Found'],
      ['/api/venues/null', 400, 'Bad Request'],
    ] as const

    for (const [path, status, title] of cases) {
      it(`${status} for ${path}: the same members in JSON and in XML, and no traceId`, async () => {
        const json = await subject().ask(`${path}?secret=1`)
        const detail: unknown = expect.stringMatching(/\w+ .+\.$/)
        const problem = JSON.parse(json.body) as Record<string, unknown>
        expect(problem).toEqual({ type: 'about:blank', title, status, detail, instance: path })
        expect(Object.keys(problem)).toEqual(['type', 'title', 'status', 'detail', 'instance'])
        const xml = await subject().ask(`${path}?secret=1`, accept('text/xml'))
        const { root, namespace, members } = readElements(xml.body)
        expect([root, namespace]).toEqual(['problem', 'urn:ietf:rfc:7807'])
        expect(members).toEqual({ ...problem, status: String(status) } as Record<string, string>)
      })
    }

    it('name the existing paths, and say that lists are off if they are', async () => {
      const lists = hasLists ? '/api/events, /api/venues, ' : ''
      const detail = `There is nothing here. Try ${lists}/api/events/{id}, /api/events/{id}/venue or /api/venues/{id}.`
      expect(JSON.parse((await subject().ask('/nothing')).body)).toMatchObject({ detail })
      // An empty id is malformed.
      expect((await subject().ask('/api/events//')).body).toContain('The id must be a GUID')
      if (hasLists) return
      for (const [list, one] of [
        ['events', 'event'],
        ['venues', 'venue'],
      ] as const) {
        for (const path of [`/api/${list}`, `/${list}/`, `/API/${list.toUpperCase()}?limit=5`]) {
          const { status, body } = await subject().ask(path)
          const off = `Lists are off on this service. Ask for one ${one} by its id: /api/${list}/{id}.`
          expect([path, status, JSON.parse(body)]).toEqual([path, 400, expect.objectContaining({ detail: off })])
        }
      }
    })

    it('contain the pathname as browsers parse it, escaped, for any request', async () => {
      for (const target of HOSTILE) {
        const { pathname } = new URL(`http://h${target}`)
        const json = await subject().ask(target)
        expect(JSON.parse(json.body)).toMatchObject({ instance: pathname })
        const xml = await subject().ask(target, accept('application/hal+xml'))
        expect(readElements(xml.body).members['instance']).toBe(pathname)
        for (const { body } of [json, xml]) expect(body).not.toMatch(/<script|<b>|]]>/)
      }
    })

    it('contain the traceId of a valid traceparent, in both', async () => {
      const valid = [
        `00-${TRACE}-00f067aa0ba902b7-01`,
        `00-${TRACE}-00f067aa0ba902b7-00`,
        `01-${TRACE}-00f067aa0ba902b7-01`,
        `cc-${TRACE}-00f067aa0ba902b7-01-what-comes-later`,
      ]
      for (const traceparent of valid) {
        const headers = [['traceparent', traceparent]] as const
        const json = await subject().ask('/nothing', { headers })
        expect(JSON.parse(json.body)).toMatchObject({ traceId: TRACE })
        const xml = await subject().ask('/nothing', { headers: [...headers, ['Accept', 'text/xml']] })
        expect(readElements(xml.body).members['traceId']).toBe(TRACE)
      }
    })

    it('contain no traceId for any other traceparent', async () => {
      const invalid = [
        'x',
        TRACE,
        `ff-${TRACE}-00f067aa0ba902b7-01`,
        `00-${TRACE.toUpperCase()}-00f067aa0ba902b7-01`,
        `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
        `00-${TRACE}-${'0'.repeat(16)}-01`,
        `00-${TRACE}-00f067aa0ba902b7-01-more`,
        `00-${TRACE}-00f067aa0ba902b7`,
        `00-${TRACE.slice(1)}"-00f067aa0ba902b7-01`,
      ]
      for (const traceparent of invalid) {
        const reply = await subject().ask('/nothing', { headers: [['traceparent', traceparent]] })
        expect([traceparent, reply.body.includes('traceId')]).toEqual([traceparent, false])
      }
      const twice = [1, 2].map(() => ['traceparent', `00-${TRACE}-00f067aa0ba902b7-01`] as const)
      expect((await subject().ask('/nothing', { headers: twice })).body).not.toContain('traceId')
    })

    it('are never part of a success', async () => {
      const traceparent = `00-${TRACE}-00f067aa0ba902b7-01`
      const reply = await subject().ask(`/api/events/${EVENT}`, { headers: [['traceparent', traceparent]] })
      expect(reply.body).not.toContain(TRACE)
    })
  })
}
