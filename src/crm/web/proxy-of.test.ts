import { describe, expect, it } from 'bun:test'
import { proxyOf } from './http-client.ts'

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
