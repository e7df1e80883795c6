import { Buffer } from 'node:buffer'
import { ClientClosedError, ErrorReply, SocketClosedUnexpectedlyError } from '@redis/client'
import { codeOf, whyNotAccepted, whyNotReached } from '../../domain/system-error.ts'
import { HEAD_CEILING } from '../entries.ts'
import { type StoredEntry, StoreFailure } from '../store.ts'

/** A raw reply; its texts are bytes. */
export type RawReply = Buffer | number | string | null | undefined | readonly RawReply[]

export function listOf(reply: RawReply): readonly RawReply[] {
  return typeof reply !== 'object' || reply === null || Buffer.isBuffer(reply) ? [] : reply
}

export function textIn(reply: RawReply): string {
  return Buffer.isBuffer(reply) ? reply.toString() : String(reply ?? '')
}

/** Parses lines `name:value`. */
export function namedIn(reply: RawReply): ReadonlyMap<string, string> {
  const found = textIn(reply).matchAll(/^([^:\r\n]+):(.*?)\r?$/gm)
  return new Map(Array.from(found, ([, name = '', value = '']) => [name, value]))
}

function bytesIn(reply: RawReply): number {
  return Buffer.isBuffer(reply) ? reply.length : textIn(reply).length
}

/**
 * Parses entries. An entry with foreign fields, or with a head that is too large, gets no head, so that readers refuse
 * it.
 */
export function entriesOf(reply: RawReply): readonly StoredEntry[] {
  return listOf(reply).map((entry) => {
    const [id, given] = listOf(entry)
    const fields = listOf(given)
    const field = (name: string): RawReply => {
      const at = fields.findIndex((one, index) => index % 2 === 0 && bytesIn(one) === 1 && textIn(one) === name)
      return at === -1 ? null : fields[at + 1]
    }
    const [h, b, s] = [field('h'), field('b'), field('s')]
    const isLong = bytesIn(h) > HEAD_CEILING || bytesIn(s) > HEAD_CEILING
    return {
      id: textIn(id),
      h: isLong ? '' : textIn(h),
      b: Buffer.isBuffer(b) ? b : null,
      s: s === null || isLong ? null : textIn(s),
    }
  })
}

/** Errors that an operator has to correct: repeating the command does not help. */
const REFUSALS = ['NOAUTH', 'WRONGPASS', 'NOPERM', 'READONLY', 'ERR invalid password']
/** Why a server accepts no more data, by the first word of its reply, and what to do. */
const FULL: ReadonlyMap<string, string> = new Map([
  ['OOM', 'raise its maxmemory, or remove what other applications keep in it'],
  ['MISCONF', 'make room on the disk it saves to, or let it save nothing (save "")'],
])

export function strange(): StoreFailure {
  return new StoreFailure('lost', 'the server at cluster.url is neither Redis nor Valkey')
}

/** @param key the key that was requested */
export function storeFailureOf(cause: unknown, key = ''): StoreFailure {
  if (cause instanceof StoreFailure) return cause
  if (!(cause instanceof Error)) return new StoreFailure('lost', 'the connection failed')
  // The message may repeat what was sent, including the password.
  const message = cause.message
    .replaceAll(/\s+/g, ' ')
    .replace(/,? with args beginning with.*/, '')
    .slice(0, 200)
  if (!(cause instanceof ErrorReply)) return new StoreFailure('lost', whyLost(cause))
  const begins = (words: readonly string[]): boolean => words.some((word) => message.startsWith(word))
  const room = FULL.get(message.split(' ', 1)[0] ?? '')
  if (room !== undefined) return new StoreFailure('full', `the store accepts no more data: ${room} (${message})`)
  if (begins(['WRONGTYPE'])) {
    const todo = 'choose another cluster.name, or delete that key if nothing needs it'
    return new StoreFailure('foreign', `the key ${key} contains data of another application (WRONGTYPE): ${todo}`)
  }
  if (begins(REFUSALS)) return new StoreFailure('refused', `the store refuses a command: ${message}`)
  if (/^ERR unknown command/i.test(message))
    return new StoreFailure('refused', `the store does not know a command: ${message}`)
  return new StoreFailure('lost', message)
}

function whyLost(cause: Error): string {
  const code = codeOf(cause)
  const why = code === null ? null : whyNotReached(code)
  if (why !== null) return `the store ${why}`
  const fault = code === null ? null : whyNotAccepted(code, 'cluster.ca')
  if (fault !== null) return `the store has a certificate that ${fault} (${code})`
  if (cause instanceof SocketClosedUnexpectedlyError || cause instanceof ClientClosedError)
    return 'the store closed the connection'
  // The client's errors are all named Error, so the class tells which one it is.
  return `the connection to the store failed (${code ?? cause.constructor.name})`
}
