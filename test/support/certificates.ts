import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A certificate authority and the certificates it has signed, in a temporary folder, made by openssl. */
export class Certificates {
  readonly folder: string = mkdtempSync(join(tmpdir(), 'marquee-certificates-'))

  constructor() {
    openssl(this.folder, [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-days',
      '2',
      '-subj',
      '/CN=Test authority',
      '-keyout',
      'ca.key',
      '-out',
      'ca.pem',
    ])
  }

  get authority(): string {
    return join(this.folder, 'ca.pem')
  }

  /** Returns a certificate and key for a server with these names (`DNS:…`, `IP:…`); it has expired if `days` is below 0. */
  sign(
    names: string,
    { days = 2 }: { readonly days?: number } = {},
  ): { readonly certificate: string; readonly key: string } {
    writeFileSync(join(this.folder, 'names'), `subjectAltName=${names}\n`)
    openssl(this.folder, [
      'req',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-subj',
      '/CN=server',
      '-keyout',
      'server.key',
      '-out',
      'server.csr',
    ])
    openssl(this.folder, [
      'x509',
      '-req',
      '-in',
      'server.csr',
      '-CA',
      'ca.pem',
      '-CAkey',
      'ca.key',
      '-CAcreateserial',
      '-days',
      String(days),
      '-extfile',
      'names',
      '-out',
      'server.pem',
    ])
    return { certificate: this.#read('server.pem'), key: this.#read('server.key') }
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }

  #read(name: string): string {
    return readFileSync(join(this.folder, name), 'utf8')
  }
}

/** The name of the program and of Debian's package. */
const OPENSSL = 'openssl'

function openssl(cwd: string, args: readonly string[]): void {
  const { status, stderr } = spawnSync(OPENSSL, args, { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`openssl failed: ${stderr}`)
}
