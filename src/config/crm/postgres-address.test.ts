import { describe, expect, it } from 'bun:test'
import fc from 'fast-check'
import { parsePostgresUrl } from './postgres.ts'

const PLAIN = {
  host: 'db.example.org',
  port: 5432,
  user: 'marquee',
  password: null,
  database: 'crm',
  sslMode: 'prefer',
  sslRootCert: null,
  sslCert: null,
  sslKey: null,
  applicationName: null,
}

describe('a URL of PostgreSQL', () => {
  it.each([
    ['postgres://marquee@db.example.org/crm', {}],
    ['postgresql://marquee@db.example.org:6432/crm', { port: 6432 }],
    ['postgres://marquee:p%40ss%2Fword@db.example.org/crm', { password: 'p@ss/word' }],
    ['postgres://marquee@db.example.org', { database: 'marquee' }],
    ['postgres://marquee@[::1]:5433/crm', { host: '::1', port: 5433 }],
    ['postgres://marquee@/crm?host=/var/run/postgresql', { host: '/var/run/postgresql' }],
    ['postgres://marquee@db.example.org/crm?sslmode=verify-full', { sslMode: 'verify-full' }],
    [
      'postgres://marquee@db.example.org/crm?sslmode=verify-ca&sslrootcert=./ca.pem&sslcert=c.pem&sslkey=k.pem',
      { sslMode: 'verify-ca', sslRootCert: './ca.pem', sslCert: 'c.pem', sslKey: 'k.pem' },
    ],
    ['postgres://marquee@db.example.org/crm?application_name=web', { applicationName: 'web' }],
    ['postgres://marquee@db.example.org/crm?sslrootcert=system', { sslMode: 'verify-full', sslRootCert: 'system' }],
    [' postgres://marquee@db.example.org/crm\n', {}],
    ['postgres:///crm?host=/var/run/postgresql&port=5433&user=marquee', { host: '/var/run/postgresql', port: 5433 }],
    ['postgres://db.example.org?user=marquee&password=a+b%26c&dbname=crm', { password: 'a+b&c' }],
    [
      'postgres://other:wrong@elsewhere:1/x?host=db.example.org&port=5432&user=marquee&dbname=crm',
      { password: 'wrong' },
    ],
    ['postgres://marquee@db.example.org/crm?port=&user=&sslmode=', {}],
    [
      'postgres://marquee@db.example.org/crm?user=a&user=marquee&sslrootcert=./c%2B+a.pem',
      { sslRootCert: './c++a.pem' },
    ],
  ])('%s', (url, differs) => {
    const expected: unknown = { ...PLAIN, ...differs }
    const found: unknown = parsePostgresUrl(url)
    expect(found).toEqual(expected)
  })

  it.each([
    ['mysql://marquee@db.example.org/crm', 'must begin with postgres://'],
    ['db.example.org', 'is not a URL; percent-encode what is not a letter or digit in the password'],
    ['postgres://db.example.org/crm', 'must name a user: postgres://user@host/database'],
    ['postgres://marquee@/crm', 'must name a host; a Unix socket is ?host=/var/run/postgresql'],
    ['postgres:///crm?host=/var/run/postgresql', 'must name a user: postgres://user@host/database'],
    ['postgres://marquee@db/crm?port=65536', 'must have a port from 1 to 65535'],
    ['postgres://marquee@db/crm?port=5432,5433', 'must have a port from 1 to 65535'],
    ['postgres://marquee@db/crm?password=50%', 'contains a % without two hex digits; write %25'],
    ['postgres://marquee@one:5432,two:5432/crm', 'must name one host'],
    ['postgres://marquee@one,two/crm', 'must name one host'],
    ['postgres://marquee@db/crm/more', 'must name one database after the host'],
    ['postgres://marquee@db/crm#x', 'must not contain a #; write %23'],
    ['postgres://marquee:50%@db/crm', 'contains a % without two hex digits; write %25'],
    [
      'postgres://marquee@db/crm?sslmode=verify_full',
      'has an unknown sslmode; did you mean verify-full? known: disable, allow, prefer, require, verify-ca, verify-full',
    ],
    [
      'postgres://marquee@db/crm?sslmode=require&sslrootcert=system',
      'must not have an sslmode weaker than verify-full with sslrootcert=system',
    ],
    ['postgres://marquee@db/crm?ssl_mode=require', 'has an unknown parameter; did you mean sslmode?'],
  ])('%s: %s', (url, message) => {
    const parsed = parsePostgresUrl(url)
    expect(parsed).toBe(message)
  })

  it('gives back every password that is percent-encoded', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: 'grapheme' }), (password) => {
        const parsed = parsePostgresUrl(`postgres://u:${encodeURIComponent(password)}@h/d`)
        expect(typeof parsed === 'string' ? parsed : parsed.password).toBe(password)
      }),
    )
  })

  it('says nothing of what it was given, but for known words', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 6 }), (text) => {
        const parsed = parsePostgresUrl(`postgres://u:secret-${text}@h/d?x-${text}=1`)
        if (typeof parsed === 'string') expect(parsed).not.toContain('secret')
      }),
    )
  })
})
