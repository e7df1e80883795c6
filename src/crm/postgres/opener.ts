import { readFileSync, statSync } from 'node:fs'
import { type ConnectionOptions, checkServerIdentity } from 'node:tls'
import type { PostgresAddress } from '../../config/crm/sources.ts'
import type { Secret } from '../../domain/secret.ts'
import { unreachable } from '../../domain/unreachable.ts'
import { PLENTY } from '../kit/crm-limits.ts'
import { type ConnectionSettings, type Encryption, Connection } from './connection.ts'
import { PostgresFailure } from './postgres-failure.ts'

export interface OpenerSettings extends ConnectionSettings {
  readonly url: Secret
  /** Parses the URL. Returns the rest of a sentence if it is invalid. */
  readonly addressIn: (url: string) => PostgresAddress | string
  /** The absolute path of additional trusted certificates; `null` to trust those that the URL names, or the runtime's. */
  readonly ca: string | null
  /** Resolves a path of the URL. */
  readonly absolute: (path: string) => string
}

/** Opens connections to the configured URL, reading its password file again if the server refuses the password. */
export class Opener {
  /** A random name of this process, to recognize its own connections. */
  readonly process: string
  readonly settings: OpenerSettings
  #url: Secret

  constructor(settings: OpenerSettings) {
    this.settings = settings
    this.process = Math.floor(settings.time.random() * 2 ** 48).toString(36)
    this.#url = settings.url
  }

  async open(): Promise<Connection | PostgresFailure> {
    const opened = await this.#openWith(this.#url)
    if (!(opened instanceof PostgresFailure) || !isRefusal(opened)) return opened
    const refreshed = await this.#url.refresh()
    if (!refreshed.ok)
      return new PostgresFailure('refused', `${opened.failure.message}; ${refreshed.message}`, opened.code, true)
    if (refreshed.secret === this.#url) return opened
    this.#url = refreshed.secret
    return this.#openWith(this.#url)
  }

  async #openWith(url: Secret): Promise<Connection | PostgresFailure> {
    const address = this.settings.addressIn(url.reveal())
    if (typeof address === 'string') {
      return new PostgresFailure('refused', `crm.url (${url.from}) ${address}`, null, true)
    }
    const certificates = this.#certificates(address)
    if (certificates instanceof PostgresFailure) return certificates
    let last: Connection | PostgresFailure | null = null
    for (const encryption of tlsAttempts(address, certificates)) {
      last = await Connection.open(address, encryption, this.settings)
      if (!(last instanceof PostgresFailure) || !isAboutEncryption(last, encryption)) break
    }
    return last ?? new PostgresFailure('internal', 'no way to connect', null, true)
  }

  #certificates({ sslRootCert, sslCert, sslKey }: PostgresAddress): Certificates | PostgresFailure {
    const { ca, absolute, descriptors = PLENTY } = this.settings
    const root = sslRootCert === null || sslRootCert === 'system' ? ca : absolute(sslRootCert)
    const paths = [root, sslCert === null ? null : absolute(sslCert), sslKey === null ? null : absolute(sslKey)]
    const texts: (string | null)[] = []
    for (const path of paths) {
      try {
        texts.push(path === null ? null : descriptors.take(() => regularText(path)))
      } catch {
        return new PostgresFailure('misconfigured', `the certificate or key ${path ?? ''} cannot be read`, null, true)
      }
    }
    const [caText = null, cert = null, key = null] = texts
    return { ca: caText, cert, key }
  }
}

/** Reads a regular file only: opening a pipe would block the process until something writes to it. */
function regularText(path: string): string {
  if (!statSync(path).isFile()) throw new Error('not a regular file')
  return readFileSync(path, 'utf8')
}

/** Returns true if the server refuses the password or the role. */
function isRefusal({ code }: PostgresFailure): boolean {
  return code === '28P01' || code === '28000'
}

/**
 * Returns true if the other attempt of `prefer` or `allow` may succeed: the server has no TLS, or pg_hba.conf requires
 * the other kind of connection.
 */
function isAboutEncryption({ code, failure }: PostgresFailure, encryption: Encryption): boolean {
  return code === '28000' || (encryption !== false && failure.kind === 'refused' && code !== '28P01')
}

/** The contents of certificate and key files; `ca` is null if only the runtime's certificates are trusted. */
interface Certificates {
  readonly ca: string | null
  readonly cert: string | null
  readonly key: string | null
}

/** The connection attempts for `sslmode`, in order (libpq, table 34.1). */
function tlsAttempts({ sslMode, host }: PostgresAddress, certificates: Certificates): readonly Encryption[] {
  // Unix sockets have no TLS, and libpq ignores sslmode for them.
  if (host.startsWith('/')) return [false]
  const { ca, cert, key } = certificates
  const own = { ...(cert === null ? {} : { cert }), ...(key === null ? {} : { key }) }
  const anyone: ConnectionOptions = { ...own, rejectUnauthorized: false }
  const trusted = { ...own, ...(ca === null ? {} : { ca }), rejectUnauthorized: true }
  const anyHost: ConnectionOptions = { ...trusted, checkServerIdentity: () => undefined }
  // Checks the host by name, since `pg` sets no server name for an IP address.
  const thisHost: ConnectionOptions = { ...trusted, checkServerIdentity: (_, peer) => checkServerIdentity(host, peer) }
  switch (sslMode) {
    case 'disable':
      return [false]
    case 'allow':
      return [false, anyone]
    case 'prefer':
      return [anyone, false]
    case 'require':
      // With a root certificate, `require` verifies the chain, because libpq does and operators rely on it.
      return [ca === null ? anyone : anyHost]
    case 'verify-ca':
      return [anyHost]
    case 'verify-full':
      return [thisHost]
    default:
      return unreachable(sslMode)
  }
}
