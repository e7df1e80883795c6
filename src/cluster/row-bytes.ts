// One row as the store holds it. Numbers are big-endian:
// kind (1 byte: 1 event, 2 venue, 3 and 4 withheld, 5 and 6 removed), id (16), version (float64), since when it is served
// and its sequence (uint32 each), the length of the text (uint32), text (UTF-8).
// The store's scripts read the first two fields: a kind above 4 is taken out of its hash, an odd one is an event.

import { Buffer } from 'node:buffer'
import { guidText, readGuidWords } from '../domain/guid.ts'
import type { RowRecord } from '../records/row-records.ts'

const STORED_KINDS = ['served', 'withheld', 'removed'] as const

const ID_AT = 1
const VERSION_AT = ID_AT + 16
const SINCE_AT = VERSION_AT + 8
const SEQUENCE_AT = SINCE_AT + 4
const LENGTH_AT = SEQUENCE_AT + 4
const TEXT_AT = LENGTH_AT + 4

const words = new Uint32Array(4)

export function encodeRow({ list, says, id, version, revision, text }: RowRecord): Buffer {
  const length = Buffer.byteLength(text)
  const bytes = Buffer.allocUnsafe(TEXT_AT + length)
  const kind = STORED_KINDS.findIndex((word) => word === says)
  if (kind === -1) throw new Error(`a row that is ${says} is not stored`)
  bytes[0] = kind * 2 + (list === 'events' ? 1 : 2)
  readGuidWords(id, words)
  for (let word = 0; word < 4; word++) bytes.writeUInt32BE(words[word] ?? 0, ID_AT + word * 4)
  bytes.writeDoubleBE(version, VERSION_AT)
  bytes.writeUInt32BE(revision.sinceS, SINCE_AT)
  bytes.writeUInt32BE(revision.sequence, SEQUENCE_AT)
  bytes.writeUInt32BE(length, LENGTH_AT)
  bytes.write(text, TEXT_AT, length, 'utf8')
  return bytes
}

/** Decodes rows that follow one another. Throws a sentence if the bytes are not complete rows. */
export function* decodeRows(bytes: Buffer): Generator<RowRecord, void> {
  for (let at = 0; at < bytes.length;) {
    if (bytes.length - at < TEXT_AT) throw new Error(`the row at byte ${at} is cut short`)
    const kind = (bytes[at] ?? 0) - 1
    const says = STORED_KINDS[kind >> 1]
    if (says === undefined) throw new Error(`the row at byte ${at} is of kind ${kind + 1}, which is unknown`)
    for (let word = 0; word < 4; word++) words[word] = bytes.readUInt32BE(at + ID_AT + word * 4)
    const version = bytes.readDoubleBE(at + VERSION_AT)
    const revision = { sinceS: bytes.readUInt32BE(at + SINCE_AT), sequence: bytes.readUInt32BE(at + SEQUENCE_AT) }
    const from = at + TEXT_AT
    const to = from + bytes.readUInt32BE(at + LENGTH_AT)
    if (to > bytes.length) throw new Error(`the row at byte ${at} is longer than the remaining bytes`)
    const text = bytes.toString('utf8', from, to)
    yield { list: kind % 2 === 0 ? 'events' : 'venues', says, id: guidText(words, 0), version, revision, text }
    at = to
  }
}
