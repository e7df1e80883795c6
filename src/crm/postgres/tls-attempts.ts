import { checkServerIdentity } from 'node:tls'
import type { ConnectionOptions } from 'node:tls'
import { unreachable } from '../../domain/unreachable.ts'
import type { PostgresAddress } from '../../config/postgres-address.ts'

/** Certificates and keys as their files hold them; `ca` is null for those the runtime trusts by itself. */
export interface Certificates {
  readonly ca: string | null
  readonly cert: string | null
  readonly key: string | null
}

/** A way to connect: false is without encryption. */
export type Encryption = false | ConnectionOptions

/** The ways to connect in the order in which `sslmode` tries them (libpq, table 34.1). */
export function tlsAttempts({ sslMode, host }: PostgresAddress, certificates: Certificates): readonly Encryption[] {
  // A Unix socket knows no TLS; libpq ignores sslmode there.
  if (host.startsWith('/')) return [false]
  const { ca, cert, key } = certificates
  const own = { ...(cert === null ? {} : { cert }), ...(key === null ? {} : { key }) }
  const anyone: ConnectionOptions = { ...own, rejectUnauthorized: false }
  const trusted = { ...own, ...(ca === null ? {} : { ca }), rejectUnauthorized: true }
  const anyHost: ConnectionOptions = { ...trusted, checkServerIdentity: () => undefined }
  // The host is named here because for an IP address `pg` sets no server name.
  const thisHost: ConnectionOptions = { ...trusted, checkServerIdentity: (_, peer) => checkServerIdentity(host, peer) }
  switch (sslMode) {
    case 'disable':
      return [false]
    case 'allow':
      return [false, anyone]
    case 'prefer':
      return [anyone, false]
    case 'require':
      // With a root certificate at hand, `require` verifies the chain: libpq does, so operators count on it.
      return [ca === null ? anyone : anyHost]
    case 'verify-ca':
      return [anyHost]
    case 'verify-full':
      return [thisHost]
    default:
      return unreachable(sslMode)
  }
}
