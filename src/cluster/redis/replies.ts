import { Buffer } from 'node:buffer'
import { ClientClosedError, ErrorReply, SocketClosedUnexpectedlyError } from '@redis/client'
import { codeOf, whyNotAccepted, whyNotReached } from '../../domain/system-error.ts'
import { type WritePosition, type StoredEntry, StoreFailure } from '../store.ts'

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

/** Parses entries. One that no instance wrote gets no token, so that it follows nothing. */
export function entriesOf(reply: RawReply): readonly StoredEntry[] {
  return listOf(reply).map((entry) => {
    const [id, given] = listOf(entry)
    const fields = listOf(given)
    const field = (name: string): RawReply => {
      const at = fields.findIndex((one, index) => index % 2 === 0 && textIn(one) === name)
      return at === -1 ? null : fields[at + 1]
    }
    const [, seq] = /^(\d+)-0$/.exec(textIn(id)) ?? []
    const [epoch, after, rows, beat] = [field('e'), field('after'), field('rows'), field('beat')]
    const [, token, number] = /^(\w+) (\d+)$/.exec(textIn(after)) ?? []
    return {
      token: seq === undefined ? '' : textIn(field('t')),
      seq: Number(seq ?? 0),
      claim:
        epoch === null
          ? null
          : claimOf(epoch, token === undefined ? null : { token, seq: Number(number) }, field('who')),
      rows: Buffer.isBuffer(rows) ? rows : null,
      notes: textIn(field('times')),
      beat: Buffer.isBuffer(beat) ? textIn(beat) : null,
    }
  })
}

function claimOf(epoch: RawReply, after: WritePosition | null, who: RawReply): StoredEntry['claim'] {
  return { epoch: Number(textIn(epoch)), after, who: textIn(who) }
}

/** Returns true if a command met a key of another type: another application uses the name. */
export function isOfOtherType(cause: unknown): boolean {
  return cause instanceof StoreFailure && cause.message.startsWith('WRONGTYPE')
}

/** Errors that an operator has to correct: repeating the command does not help. */
const REFUSALS = ['NOAUTH', 'WRONGPASS', 'NOPERM', "can't run this command", 'READONLY', 'ERR invalid password']
/** Why a server accepts no more data, by a word of its reply, and what to do. */
const FULL: readonly (readonly [string, string])[] = [
  ['OOM', 'raise its maxmemory, or remove what other applications keep in it'],
  ['MISCONF', 'make room on the disk it saves to, or let it save nothing (save "")'],
]

export function strange(): StoreFailure {
  return new StoreFailure('lost', 'the server at cluster.url is neither Redis nor Valkey')
}

export function storeFailureOf(cause: unknown): StoreFailure {
  if (cause instanceof StoreFailure) return cause
  if (!(cause instanceof Error)) return new StoreFailure('lost', 'the connection failed')
  // The message may repeat what was sent, including the password.
  const message = cause.message
    .replaceAll(/\s+/g, ' ')
    .replace(/,? with args beginning with.*/, '')
    .replace(/ script: .*/, '')
    .slice(0, 200)
  if (!(cause instanceof ErrorReply)) return new StoreFailure('lost', whyLost(cause))
  const room = FULL.find(([word]) => message.includes(word))?.[1]
  if (room !== undefined) return new StoreFailure('full', `the store accepts no more data: ${room} (${message})`)
  if (message.startsWith('MOVED'))
    return new StoreFailure('refused', `cluster.url names a node that does not hold the keys: ${message}`)
  if (REFUSALS.some((word) => message.includes(word)) || /^ERR unknown command/i.test(message))
    return new StoreFailure('refused', `the store refuses a command: ${message}`)
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
