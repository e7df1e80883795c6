import { afterAll, beforeAll, expect, it } from 'bun:test'
import { Secret } from '../../src/domain/secret.ts'
import { failureIn } from '../../src/crm/postgres/postgres-failure.ts'
import { Certificates } from '../support/certificates.ts'
import { PostgresServer, SUPERUSER_PASSWORD } from '../support/postgres-server.ts'
import { describeWithPostgres } from './needs-postgres.ts'
import { openerOf } from './opener-of.ts'

let certificates: Certificates
let strangers: Certificates
let server: PostgresServer
let plain: PostgresServer

/** How a connection ends up: `tls`, `plain`, or why it was refused. */
async function connect(
  to: PostgresServer,
  query: string,
  host = 'localhost',
  ca: string | null = null,
): Promise<string> {
  const url = to.url({ query }).replace('127.0.0.1', host)
  const secret = new Secret(url, { name: 'a test', reread: null })
  const opener = openerOf(secret, { ca })
  try {
    const connection = await opener.open()
    const { rows } = await connection.query('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()')
    await connection.close()
    return rows[0]?.[0] === 't' ? 'tls' : 'plain'
  } catch (cause) {
    const { failure } = failureIn(cause)
    return `${failure.kind}: ${failure.message}`
  }
}

const REFUSED = /^refused: .*certificate is not accepted, because it /
const UNTRUSTED = /because it is not trusted here: name the certificate of the authority that signed it in crm\.ca \(/

describeWithPostgres('the encryption that the URL asks for', () => {
  beforeAll(async () => {
    certificates = new Certificates()
    strangers = new Certificates()
    server = await PostgresServer.create()
    plain = await PostgresServer.create()
    const { certificate, key } = certificates.sign('DNS:localhost')
    server.putFile('server.crt', certificate)
    server.putFile('server.key', key)
    server.configure({ ssl: 'on' })
    await server.restart()
  })

  afterAll(async () => {
    await Promise.all([server.remove(), plain.remove()])
    certificates.remove()
    strangers.remove()
  })

  it.each([
    ['', 'tls'],
    ['?sslmode=disable', 'plain'],
    ['?sslmode=allow', 'plain'],
    ['?sslmode=prefer', 'tls'],
    ['?sslmode=require', 'tls'],
  ])('%p of a server whose certificate nobody knows is %s', async (query, outcome) => {
    expect(await connect(server, query)).toBe(outcome)
    expect(await connect(server, query, '127.0.0.1')).toBe(outcome)
  })

  it.each(['verify-ca', 'verify-full'])('%s refuses a certificate that nobody known has signed', async (mode) => {
    expect(await connect(server, `?sslmode=${mode}`)).toMatch(UNTRUSTED)
    expect(await connect(server, `?sslmode=${mode}&sslrootcert=${strangers.authority}`)).toMatch(REFUSED)
  })

  it('verify-ca takes what the root certificate signed, whatever the host is called', async () => {
    const query = `?sslmode=verify-ca&sslrootcert=${certificates.authority}`
    expect(await connect(server, query)).toBe('tls')
    expect(await connect(server, query, '127.0.0.1')).toBe('tls')
  })

  it('verify-full takes it for the host that the certificate names and no other', async () => {
    const query = `?sslmode=verify-full&sslrootcert=${certificates.authority}`
    expect(await connect(server, query)).toBe('tls')
    expect(await connect(server, query, '127.0.0.1')).toMatch(/because it is for another host: use a host name that/)
  })

  it('crm.ca is trusted where the URL names no root certificate', async () => {
    expect(await connect(server, '?sslmode=verify-full', 'localhost', certificates.authority)).toBe('tls')
    expect(await connect(server, '?sslmode=verify-full', 'localhost', strangers.authority)).toMatch(REFUSED)
  })

  it('sslrootcert=system trusts only the certificates of the runtime, and no server without TLS', async () => {
    for (const query of ['?sslrootcert=system', '?sslmode=verify-full&sslrootcert=system']) {
      expect(await connect(server, query)).toMatch(UNTRUSTED)
      expect(await connect(server, query, 'localhost', certificates.authority)).toMatch(UNTRUSTED)
      expect(await connect(plain, query)).toMatch(/^refused: .*offers no TLS/)
    }
    expect(await connect(server, '?sslmode=require&sslrootcert=system')).toMatch(
      /^refused: crm\.url .* weaker than verify-full/,
    )
  })

  it('require verifies too where a root certificate is named, as libpq does', async () => {
    expect(await connect(server, `?sslmode=require&sslrootcert=${strangers.authority}`)).toMatch(REFUSED)
    expect(await connect(server, `?sslmode=require&sslrootcert=${certificates.authority}`, '127.0.0.1')).toBe('tls')
  })

  it.each([
    ['?sslmode=prefer', 'plain'],
    ['?sslmode=allow', 'plain'],
  ])('%s makes do without where the server has no TLS', async (query, outcome) => {
    expect(await connect(plain, query)).toBe(outcome)
  })

  it.each(['require', 'verify-ca', 'verify-full'])('%s never makes do without', async (mode) => {
    expect(await connect(plain, `?sslmode=${mode}`)).toMatch(/^refused: .*offers no TLS/)
  })

  it('allow and prefer try the other way where pg_hba.conf wants it', async () => {
    server.allow('hostnossl all all all reject')
    await server.restart()
    expect(await connect(server, '?sslmode=allow')).toBe('tls')
    server.allow('hostssl all all all reject\nhostnossl all all all scram-sha-256')
    await server.restart()
    expect(await connect(server, '?sslmode=prefer')).toBe('plain')
    expect(await connect(server, '?sslmode=require')).toMatch(/^refused: .*\(28000\)/)
  })

  it('names a root certificate that cannot be read', async () => {
    expect(await connect(plain, '?sslmode=verify-full&sslrootcert=/nowhere/root.pem')).toContain('/nowhere/root.pem')
  })

  it('says nothing of the password, wrong or right', async () => {
    const wrong = plain.url({ password: 'wr:ng/p@ss' })
    const secret = new Secret(wrong, { name: 'a test', reread: null })
    const opener = openerOf(secret)
    const told = await opener.open().then(
      () => 'connected',
      (cause: unknown) => JSON.stringify(failureIn(cause)),
    )
    expect(told).toContain('refuses the password')
    expect(told).not.toContain('wr:ng')
    expect(told).not.toContain(encodeURIComponent('wr:ng'))
  })

  it('reads the password again where the server refuses it (rotation without a restart)', async () => {
    let reads = 0
    const url = plain.url({ password: 'yesterday' })
    const reread = async () => {
      reads++
      return { ok: true as const, text: plain.url({ password: SUPERUSER_PASSWORD }) }
    }
    const secret = new Secret(url, { name: 'the file ./url', reread })
    const opener = openerOf(secret)
    const connection = await opener.open()
    await connection.close()
    expect(reads).toBe(1)
  })
})
