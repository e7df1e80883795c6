import type { Reply } from './reply.ts'
import { json } from './reply.ts'

/** The directory that hands out tokens. */
export class StandInDirectory {
  readonly tenant = '00000000-0000-0000-0000-00000000aaaa'
  readonly clientId = '11111111-1111-1111-1111-111111111111'
  secret = 'right~Secret.of-the-app'
  secretHasExpired = false
  lifeS = 3600
  origin = ''
  asked = 0
  readonly #valid = new Map<string, number>()
  #count = 0

  answer(rawPath: string, body: string): Reply {
    this.asked++
    const [, tenant = ''] = /^\/([^/]+)\/oauth2\/v2\.0\/token$/.exec(rawPath) ?? []
    if (tenant !== this.tenant) return aadError(400, 'invalid_request', `AADSTS90002: Tenant '${tenant}' not found.`)
    const form = new URLSearchParams(body)
    if (form.get('grant_type') !== 'client_credentials') return aadError(400, 'unsupported_grant_type', 'AADSTS70003')
    if (form.get('scope') !== `${this.origin}/.default`) {
      return aadError(400, 'invalid_resource', 'AADSTS500011: The resource principal was not found in the tenant.')
    }
    if (form.get('client_id') !== this.clientId) {
      return aadError(400, 'unauthorized_client', 'AADSTS700016: Application was not found in the directory.')
    }
    if (this.secretHasExpired)
      return aadError(401, 'invalid_client', 'AADSTS7000222: The provided client secret keys are expired.')
    if (form.get('client_secret') !== this.secret) {
      return aadError(401, 'invalid_client', 'AADSTS7000215: Invalid client secret provided.')
    }
    const token = `eyJ0eXAi.token-${++this.#count}.c2lnbmF0dXJl`
    this.#valid.set(token, performance.now() + this.lifeS * 1000)
    return json({ token_type: 'Bearer', expires_in: this.lifeS, ext_expires_in: this.lifeS, access_token: token })
  }

  isValid(authorization: string): boolean {
    const until = this.#valid.get(authorization.replace(/^Bearer /, ''))
    return until !== undefined && performance.now() < until
  }

  /** Takes back what was handed out. */
  revoke(): void {
    this.#valid.clear()
  }
}

function aadError(status: number, error: string, description: string): Reply {
  const body = { error, error_description: `${description} Trace ID: 1 Correlation ID: 2`, error_codes: [1] }
  return { ...json(body), status }
}
