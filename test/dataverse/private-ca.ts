import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface PrivateCa {
  readonly directory: string
  /** The path of its certificate. */
  readonly path: string
  /** For 127.0.0.1 and crm.test. */
  readonly server: { readonly key: string; readonly cert: string }
  /** With the same names, and out of date. */
  readonly expired: { readonly key: string; readonly cert: string }
}

/** A certificate authority that nobody knows, and a server's certificate of it. */
export function createPrivateCa(): PrivateCa {
  const directory = mkdtempSync(join(tmpdir(), 'marquee-ca-'))
  const file = (name: string): string => join(directory, name)
  const openssl = (...args: readonly string[]): void =>
    void execFileSync('openssl', args, { cwd: directory, stdio: 'ignore' })
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'] as const
  openssl(
    'req',
    '-x509',
    ...key,
    '-keyout',
    'ca.key',
    '-out',
    'ca.pem',
    '-days',
    '30',
    '-subj',
    '/CN=A private authority',
  )
  openssl('req', ...key, '-keyout', 'server.key', '-out', 'server.csr', '-subj', '/CN=crm.test')
  writeFileSync(file('extensions'), 'subjectAltName=DNS:crm.test,IP:127.0.0.1\n')
  const signing = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', 'extensions'] as const
  const certified = (name: string, days: string): PrivateCa['server'] => {
    openssl('x509', '-req', '-in', 'server.csr', ...signing, '-days', days, '-out', name)
    return { key: readFileSync(file('server.key'), 'utf8'), cert: readFileSync(file(name), 'utf8') }
  }
  const [server, expired] = [certified('server.pem', '30'), certified('expired.pem', '-1')]
  return { directory, path: file('ca.pem'), server, expired }
}
