import { describe, expect, it } from 'bun:test'
import { proxyOf, retryAfterMs } from './http-client.ts'

const NOW = Date.parse('2026-11-21T12:00:00Z')

const waitOf = (headers: Readonly<Record<string, string>>): number | null =>
  retryAfterMs({ status: 429, headers, body: new Uint8Array() }, NOW)

describe('Retry-After (RFC 9110 §10.2.3)', () => {
  it.each([
    ['', null],
    ['soon', null],
    ['soon 5', null],
    ['-1', null],
    ['1, 2', null],
    ['0', 0],
    [' 7 ', 7000],
    ['2.5', 2500],
    ['86400', 3_600_000],
    ['9'.repeat(30), 3_600_000],
    ['Sat, 21 Nov 2026 12:00:30 GMT', 30_000],
    ['Saturday, 21-Nov-26 12:00:30 GMT', 30_000],
    ['Sat Nov 21 12:00:30 2026', 30_000],
    ['Sat, 21 Nov 2026 11:00:00 GMT', 0],
    ['Sat, 99 Nov 2026 11:00:00 GMT', null],
  ])('%p is %p ms', (text, ms) => {
    expect(waitOf({ 'retry-after': text })).toBe(ms)
  })

  it('asks for nothing where it is missing', () => {
    expect(waitOf({})).toBeNull()
  })

  it('counts a date from the Date of the same answer: its clock may be hours from ours', () => {
    const ahead = { 'retry-after': 'Sat, 21 Nov 2026 13:00:07 GMT', date: 'Sat, 21 Nov 2026 13:00:00 GMT' }
    const behind = { 'retry-after': 'Sat, 21 Nov 2026 11:00:07 GMT', date: 'Sat, 21 Nov 2026 11:00:00 GMT' }
    expect([waitOf(ahead), waitOf(behind)]).toEqual([7000, 7000])
    expect(waitOf({ ...behind, date: 'yesterday' })).toBe(0)
  })
})

const PROXY = 'http://proxy.example:3128'
const of = (url: string, env: Readonly<Record<string, string>>, configured: string | null = null): string | null =>
  proxyOf(new URL(url), { configured, env })

describe('the proxy of a URL', () => {
  it('is the one that is configured, whatever the context say', () => {
    expect(of('https://crm.example', { HTTPS_PROXY: 'http://other:1', NO_PROXY: '*' }, PROXY)).toBe(PROXY)
  })

  it('else that of the context for its scheme, in either case', () => {
    expect(of('https://crm.example', { HTTPS_PROXY: PROXY })).toBe(PROXY)
    expect(of('https://crm.example', { https_proxy: 'proxy.example:3128' })).toBe(PROXY)
    expect(of('http://crm.example', { HTTPS_PROXY: PROXY })).toBeNull()
    expect(of('http://crm.example', { HTTP_PROXY: PROXY })).toBe(PROXY)
    expect(of('https://crm.example', { HTTPS_PROXY: '' })).toBeNull()
    expect(of('https://crm.example', {})).toBeNull()
  })

  it.each([
    ['*', true],
    ['example.org, crm.example', true],
    ['example', true],
    ['.example', true],
    ['*.example', true],
    ['CRM.EXAMPLE', true],
    ['crm.example:443', true],
    ['crm.example:8443', false],
    ['rm.example', false],
    ['other.crm.example', false],
    ['', false],
    [' , ', false],
  ])('is none where NO_PROXY is %p', (exempt, isDirect) => {
    expect(of('https://crm.example/x', { HTTPS_PROXY: PROXY, NO_PROXY: exempt }) === null).toBe(isDirect)
  })

  it.each([
    ['127.0.0.1', 'https://127.0.0.1:8443', true],
    ['127.0.0.1:8443', 'https://127.0.0.1:8443', true],
    ['::1', 'https://[::1]:8443', true],
    ['[::1]', 'https://[::1]', true],
    ['[::1]:8443', 'https://[::1]:8443', true],
    ['::2', 'https://[::1]', false],
  ])('NO_PROXY %p exempts the address %p: %p', (exempt, url, isDirect) => {
    expect(of(url, { HTTPS_PROXY: PROXY, NO_PROXY: exempt }) === null).toBe(isDirect)
  })
})
