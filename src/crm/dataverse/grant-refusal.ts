import type { CrmFailure } from '../../replica/port.ts'

interface Refusal {
  readonly error: string
  readonly description: string
}

interface Names {
  readonly tenant: string
  readonly clientId: string
  readonly scope: string
}

// The directory's own numbers (AADSTS…), which its texts in many languages share.
const NO_TENANT: ReadonlySet<string> = new Set(['90002', '900023', '90013', '50059'])
const NO_APPLICATION: ReadonlySet<string> = new Set(['700016', '70001'])
const SECRET_EXPIRED = '7000222'
const SECRET_WRONG: ReadonlySet<string> = new Set(['7000215', '7000216', '7000218', '70002'])
const NO_RESOURCE: ReadonlySet<string> = new Set(['500011', '650057', '65005', '70011'])

/** Whether another secret might be taken. */
export function isSecretRefused({ error, description }: Refusal): boolean {
  const number = numberOf(description)
  if (NO_APPLICATION.has(number ?? '') || NO_TENANT.has(number ?? '')) return false
  return error === 'invalid_client' || number === SECRET_EXPIRED || SECRET_WRONG.has(number ?? '')
}

/** Why the directory gave no token, and what to do, in an admin's words. */
export function grantRefusal(refusal: Refusal, { tenant, clientId, scope }: Names, secretFrom: string): CrmFailure {
  const number = numberOf(refusal.description)
  const code = number === null ? plainCode(refusal.error) : `AADSTS${number}`
  const refused = (message: string): CrmFailure => ({
    kind: 'refused',
    message: `${message} (${code})`,
    retryAfterMs: null,
  })
  if (number !== null && NO_TENANT.has(number)) {
    return refused(
      `the tenant ${tenant} does not exist: set crm.tenant to the Directory (tenant) ID of the app registration`,
    )
  }
  if (number !== null && NO_APPLICATION.has(number)) {
    return refused(
      `the tenant ${tenant} has no app registration ${clientId}: set crm.clientId to its Application (client) ID, or crm.tenant to its directory`,
    )
  }
  if (number === SECRET_EXPIRED) {
    return refused(`the client secret has expired: add a new one to the app registration and put it into ${secretFrom}`)
  }
  if (number !== null && NO_RESOURCE.has(number)) {
    return refused(
      `the directory knows no environment ${scope.replace(/\/\.default$/, '')}: is crm.url right, and of this tenant?`,
    )
  }
  if (isSecretRefused(refusal)) {
    return refused(`the client secret is wrong: ${secretFrom} must hold the secret's value, not its ID`)
  }
  return refused('the directory refused the app registration')
}

/** A code as RFC 6749 §5.2 has them; anything else might be a text that quotes what it was sent. */
function plainCode(error: string): string {
  return /^[a-z_]{1,40}$/.test(error) ? error : 'no code'
}

function numberOf(description: string): string | null {
  return /AADSTS(\d{1,10})\b/.exec(description)?.[1] ?? null
}
