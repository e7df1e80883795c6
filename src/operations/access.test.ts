import { describe, expect, it } from 'bun:test'
import { challengeFor, holdsToken, isLocalHost, isSameSite } from './app.ts'

const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`

describe('the Hosts that are answered without a token (DNS rebinding)', () => {
  const STOCK = [
    'localhost',
    'LOCALHOST:8081',
    '127.0.0.1',
    '127.0.0.1:1',
    '[::1]',
    '[::1]:8081',
    '[0:0:0:0:0:0:0:1]:8081',
  ]

  it.each(STOCK)('%s is, whatever is listened on', (host) => {
    for (const listensOn of ['127.0.0.1', '127.0.0.2', '::1', 'localhost']) {
      expect(isLocalHost(host, listensOn)).toBe(true)
    }
  })

  it.each(['127.0.0.2', '127.0.0.2:8081'])('%s is where it is listened on', (host) => {
    expect([isLocalHost(host, '127.0.0.2'), isLocalHost(host, '127.0.0.3')]).toEqual([true, false])
  })

  it('what is listened on is not where it is no loopback address', () => {
    expect(isLocalHost('192.0.2.1:8081', '192.0.2.1')).toBe(false)
    expect(isLocalHost('ops.example.org', 'ops.example.org')).toBe(false)
  })

  it.each([
    undefined,
    '',
    'marquee.example.org',
    'localhost.example.org',
    'localhost:8081.example.org',
    'xlocalhost',
    '127.0.0.1.nip.io',
    '127.0.0.2',
    '::1',
    'localhost\n',
    'localhost:8081@evil',
    'localhost:',
    '[::1',
    '[::2]',
    '[1::1::1]',
    '[127.0.0.1]:x',
  ])('%p is not', (host) => {
    expect(isLocalHost(host, '127.0.0.1')).toBe(false)
  })
})

describe('the token', () => {
  it.each([
    'Bearer s3cret',
    'bearer s3cret',
    'BEARER  s3cret',
    basic('anybody:s3cret'),
    basic(':s3cret'),
    basic('s3cret'),
  ])('%s carries it', (authorization) => {
    expect(holdsToken(authorization, 's3cret')).toBe(true)
  })

  it.each([
    undefined,
    '',
    'Bearer',
    'Bearer ',
    's3cret',
    'Bearer S3cret',
    'Bearer s3cret2',
    'Bearer s3cre',
    'Bearer s3cret x',
    'Digest s3cret',
    basic('s3cret:'),
    basic('s3cret:other'),
    basic('a:b:s3cret'),
    'Basic %%%',
  ])('%p does not', (authorization) => {
    expect(holdsToken(authorization, 's3cret')).toBe(false)
  })

  it('is asked for by Basic of a browser, by Bearer of a program (RFC 6750 §3, RFC 7617 §2)', () => {
    expect(challengeFor('text/html,application/xhtml+xml,*/*;q=0.8')).toStartWith('Basic realm=')
    expect([challengeFor('*/*'), challengeFor(undefined)]).toEqual(['Bearer', 'Bearer'])
  })
})

describe('a POST', () => {
  it.each([
    [undefined, 'localhost:8081', true],
    ['http://localhost:8081', 'localhost:8081', true],
    ['https://ops.example.org', 'OPS.example.org', true],
    ['http://evil.example', 'localhost:8081', false],
    ['http://localhost:9999', 'localhost:8081', false],
    ['null', 'localhost:8081', false],
    ['http://localhost:8081', undefined, false],
  ])('of the origin %p to the host %p: %p', (origin, host, isOwn) => {
    expect(isSameSite(origin, host)).toBe(isOwn)
  })
})
