import { describe, expect, it } from 'bun:test'
import { EVENT, NEVER } from './rows.ts'
import { accept, type Subject } from './subject.ts'

const JSON_ = 'application/json'
const XML = 'application/xml'
const HAL = 'application/hal+json'

const TABLE: readonly (readonly [accept: string, type: string, why: string])[] = [
  ['', JSON_, 'an empty one'],
  ['*/*', JSON_, 'the order of preference'],
  ['application/*', JSON_, 'the order of preference'],
  ['text/*', 'text/json', 'the order of preference'],
  ['text/*, application/xml', XML, 'an exact type beats type/* on a tie'],
  ['*/*, text/*', 'text/json', 'type/* beats */* on a tie'],
  ['text/xml, application/hal+xml', 'text/xml', 'the order of preference among exact ones'],
  ['application/hal+json;q=0.9, text/json;q=0.8', HAL, 'the highest q wins'],
  ['*/*;q=0.9, application/hal+xml;q=0.901', 'application/hal+xml', 'three digits of q'],
  ['application/hal+json;q=0.1, */*;q=0.9', JSON_, 'the most specific range gives a type its q'],
  ['*/*, application/json;q=0', 'text/json', 'q=0 excludes'],
  ['application/*;q=0, */*;q=0.1', 'text/json', 'q=0 excludes'],
  ['application/json;q=0', JSON_, 'nothing matches: never 406'],
  ['image/png', JSON_, 'nothing matches: never 406'],
  ['Application/HAL+JSON', HAL, 'types compare case-insensitively'],
  ['application/hal+json;Q=0.5, text/xml;Q=0.6', 'text/xml', 'Q= is q='],
  ['application/hal+json;profile="a,b;c", text/xml;q=0.1', HAL, 'other parameters are ignored'],
  ['text/xml;q=0.2;ext=1, application/hal+json;q=0.1', 'text/xml', 'other parameters are ignored'],
  ['text/xml;;', 'text/xml', 'empty parameters are allowed'],
  [', ,text/xml,,', 'text/xml', 'empty members are allowed'],
  ['text/xml;q=0.1, text/xml;q=0.9, application/hal+json;q=0.5', 'text/xml', 'the highest of equals counts'],
  ['text/xml;q=1.000', 'text/xml', 'three zeros behind a 1'],
  ['text/xml;q=1.0000', JSON_, 'malformed'],
  ['text/xml;q=.5', JSON_, 'malformed'],
  ['text/xml;q=2', JSON_, 'malformed'],
  ['text/xml;q="0.5"', JSON_, 'malformed'],
  ['text/xml;q=', JSON_, 'malformed'],
  ['text/xml, *', JSON_, 'malformed'],
  ['text/xml, */json', JSON_, 'malformed'],
  ['text/xml, a/b;x', JSON_, 'malformed'],
  ['text/xml, a', JSON_, 'malformed'],
  ['text/xml;a="', JSON_, 'malformed'],
  ['text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8', XML, 'a browser'],
]

export function negotiationSentences(subject: () => Subject): void {
  describe('negotiation (contract §1.4)', () => {
    for (const [header, type, why] of TABLE) {
      it(`gives ${type} for ${JSON.stringify(header)}: ${why}`, async () => {
        const reply = await subject().ask(`/api/events/${EVENT}`, accept(header))
        expect([reply.status, reply.headers.get('content-type')]).toEqual([200, `${type}; charset=utf-8`])
      })
    }

    it('gives application/json without Accept', async () => {
      const reply = await subject().ask(`/api/events/${EVENT}`)
      expect(reply.headers.get('content-type')).toBe('application/json; charset=utf-8')
    })

    it('reads several Accept lines as one list', async () => {
      const lines = ['text/json;q=0.3', 'application/hal+xml;q=0.7', 'application/xml;q=0.5']
      const headers = lines.map((line) => ['Accept', line] as const)
      const reply = await subject().ask(`/api/events/${EVENT}`, { headers })
      expect(reply.headers.get('content-type')).toBe('application/hal+xml; charset=utf-8')
      const spoilt = await subject().ask(`/api/events/${EVENT}`, { headers: [...headers, ['Accept', '*']] })
      expect(spoilt.headers.get('content-type')).toBe('application/json; charset=utf-8')
    })

    it('chooses the problem type by the same rules (§1.5)', async () => {
      for (const [header, type] of TABLE) {
        const reply = await subject().ask(`/api/events/${NEVER}`, accept(header))
        const problem = type.endsWith('xml') ? 'application/problem+xml' : 'application/problem+json'
        expect([header, reply.headers.get('content-type')]).toEqual([header, problem])
      }
    })
  })
}
