import { fieldsOf } from '../../domain/json-value.ts'
import type { Context } from '../connector/marquee-connector.d.ts'

/** What an unsuccessful answer of Dataverse means; `other` if Marquee does not know. */
type ErrorKind =
  | 'expired'
  | 'not-tracked'
  | 'no-application-user'
  | 'unknown-column'
  | 'unknown-table'
  | 'missing-privilege'
  | 'refused'
  | 'other'

interface DataverseError {
  readonly kind: ErrorKind
  readonly status: number
  /** In lower-case hexadecimal if it is a number. */
  readonly code: string
  readonly message: string
}

const EXPIRED_VERSION_STAMP = '0x80044352'
const NOT_TRACKED = '0x80072491'
const UNKNOWN_COLUMN = '0x80060888'
const UNKNOWN_TABLE = '0x8006088a'
const NOT_A_MEMBER = '0x80072560'

/** Returns the error that Dataverse answered; `null` for anything else, such as an outage or a pause. */
export function errorIn(cause: unknown): DataverseError | null {
  const { status, answer, kind: fault } = fieldsOf(cause)
  if (!(cause instanceof Error) || typeof status !== 'number' || status < 400 || fault === 'throttled') return null
  const { code, message } = fieldsOf(fieldsOf(answer)['error'])
  const error = {
    status,
    code: typeof code === 'string' || typeof code === 'number' ? hexadecimal(String(code)) : '',
    message: typeof message === 'string' ? message : '',
  }
  const kind = kindOf(error)
  return kind === null ? null : { ...error, kind }
}

/** Normalizes a code: `-2147204270` and `0x80044352` are the same. */
function hexadecimal(code: string): string {
  const text = code.trim().toLowerCase()
  return /^-?\d+$/.test(text) && text !== '0' ? `0x${(Number(text) >>> 0).toString(16)}` : text
}

/**
 * Classifies an answer by status, code and message together: codes are "frequently empty" and change between versions.
 */
function kindOf({ status, code, message }: Omit<DataverseError, 'kind'>): ErrorKind | null {
  const isExpired = /version stamp associated with the client has expired/i.test(message)
  if (code === EXPIRED_VERSION_STAMP || status === 410 || isExpired) return 'expired'
  if (code === NOT_TRACKED || /(?:isn't|not) enabled for change tracking/i.test(message)) return 'not-tracked'
  if (code === NOT_A_MEMBER || /not a member of the organization/i.test(message)) return 'no-application-user'
  if (status === 400 && (code === UNKNOWN_COLUMN || unknownColumn(message) !== null)) return 'unknown-column'
  if (status === 404 && (code === UNKNOWN_TABLE || /segment '[^']+'/.test(message))) return 'unknown-table'
  if (status === 403 || /\bprv[A-Z]|privilege/.test(message)) return 'missing-privilege'
  if (status === 401) return 'refused'
  return status < 500 && status !== 408 ? 'other' : null
}

export function unknownColumn(message: string): string | null {
  return /property named '([^']+)'/.exec(message)?.[1] ?? null
}

interface Place {
  readonly from: string
  readonly origin: string
  readonly clientId: string
}

/** Ends the read with a sentence for an admin, which quotes only names from the answer, or throws the cause. */
export function failWith(cause: unknown, context: Context, { from, origin, clientId }: Place): never {
  const error = errorIn(cause)
  if (error === null) throw cause
  const { kind, status, message } = error
  // Anything but a code may be text that quotes the request.
  const code = /^0x[0-9a-f]{1,8}$/.test(error.code) ? `${status}, ${error.code}` : String(status)
  if (kind === 'no-application-user') {
    const remedy = 'add one in the Power Platform admin center and give it a security role'
    context.fail(
      'refused',
      `the app registration ${clientId} has no application user in ${origin}: ${remedy} (${code})`,
    )
  }
  if (kind === 'missing-privilege') {
    // Longer names are omitted: they may be anything.
    const named = /\bprv[A-Z]\w{1,96}\b/.exec(message)?.[0]
    const lacks = `${from}: the application user lacks ${named === undefined ? 'a privilege' : `the privilege ${named}`}`
    context.fail('refused', `${lacks}: give its security role Read at organization level (${code})`)
  }
  if (kind === 'refused') {
    const question = `does the app registration ${clientId} have an application user there, and is crm.url right?`
    context.fail('refused', `${origin} refuses the token: ${question} (${code})`)
  }
  throw cause
}

/** Why the directory refuses a token, and what an admin can do. */
interface Reason {
  /** The directory's error numbers (AADSTS…): its texts come in many languages, the numbers do not. */
  readonly numbers: readonly string[]
  readonly say: (settings: DirectorySettings) => string
}

interface DirectorySettings {
  readonly tenant: string
  readonly clientId: string
  readonly url: string
  /** Where the client secret comes from, in words. */
  readonly secretFrom: string
}

const SECRET_WRONG: Reason = {
  numbers: ['7000215', '7000216', '7000218', '70002'],
  say: ({ secretFrom }) => `the client secret is wrong: ${secretFrom} must hold the secret's value, not its ID`,
}

const REASONS: readonly Reason[] = [
  SECRET_WRONG,
  {
    numbers: ['7000222'],
    say: ({ secretFrom }) =>
      `the client secret has expired: add a new one to the app registration and put it into ${secretFrom}`,
  },
  {
    numbers: ['90002', '900023', '90013', '50059'],
    say: ({ tenant }) =>
      `the tenant ${tenant} does not exist: set crm.tenant to the Directory (tenant) ID of the app registration`,
  },
  {
    numbers: ['700016', '70001'],
    say: ({ tenant, clientId }) =>
      `the tenant ${tenant} has no app registration ${clientId}: set crm.clientId to its Application (client) ID, or crm.tenant to its directory`,
  },
  {
    numbers: ['500011', '650057', '65005', '70011'],
    say: ({ url }) => `the directory knows no environment ${url}: is crm.url right, and of this tenant?`,
  },
]

/** Ends the read with the reason for which the directory refuses a token, or throws the cause. */
export function failWithReason(cause: unknown, context: Context, settings: DirectorySettings): never {
  const { status, kind, answer } = fieldsOf(cause)
  const { error, error_description: description } = fieldsOf(answer)
  if (typeof error !== 'string' || kind === 'throttled' || Number(status) >= 500) throw cause
  const number = /AADSTS(\d{1,10})\b/.exec(String(description))?.[1] ?? null
  const known = number === null ? undefined : REASONS.find(({ numbers }) => numbers.includes(number))
  const reason = known ?? (error === 'invalid_client' ? SECRET_WRONG : null)
  const sentence = reason?.say(settings) ?? 'the directory refused the app registration'
  // A code in the form of RFC 6749 §5.2: anything else may be text that quotes the request.
  const code = /^[a-z_]{1,40}$/.test(error) ? error : 'no code'
  context.fail('refused', `${sentence} (${number === null ? code : `AADSTS${number}`})`)
}
