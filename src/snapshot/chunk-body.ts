import { Buffer } from 'node:buffer'
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'

const PACKED_CEILING = 4 * 1024 * 1024
const UNPACKED_CEILING = 16 * 1024 * 1024
/** What is smaller is left as it is. */
const SMALL = 1024
const LEVEL_1 = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }

// Its length as it was comes first (uint32): Bun 1.4 takes a stream that is cut short for a whole one. 0: it is as it was.
const HEAD = 4

/** The most that a packed body may have. */
export const BODY_CEILING: number = PACKED_CEILING + HEAD

/** Frames, or other bytes, as they are sent and stored: compressed where that is worth it. */
export function pack(bytes: Buffer): Buffer {
  if (bytes.length > UNPACKED_CEILING) throw new Error(`${bytes.length} bytes are more than one body may hold`)
  const isSmall = bytes.length <= SMALL
  const body = isSmall ? bytes : zstdCompressSync(bytes, LEVEL_1)
  if (body.length > PACKED_CEILING) throw new Error(`${body.length} bytes, compressed, are more than one body may hold`)
  const head = Buffer.alloc(HEAD)
  head.writeUInt32BE(isSmall ? 0 : bytes.length)
  return Buffer.concat([head, body])
}

/** What was packed; throws a sentence where it was not, or is larger than it may be. */
export function unpack(packed: Buffer): Buffer {
  if (packed.length < HEAD) throw new Error('a body is cut short')
  if (packed.length > BODY_CEILING) throw new Error(`a body of ${packed.length} bytes is too large`)
  const length = packed.readUInt32BE(0)
  const body = packed.subarray(HEAD)
  if (length === 0) return body
  if (length > UNPACKED_CEILING) throw new Error(`a body of ${length} bytes, unpacked, is too large`)
  let bytes: Buffer
  try {
    bytes = zstdDecompressSync(body, { maxOutputLength: length })
  } catch (cause) {
    throw new Error('a body cannot be decompressed', { cause })
  }
  if (bytes.length !== length) throw new Error('a body is not as long as it says')
  return bytes
}
