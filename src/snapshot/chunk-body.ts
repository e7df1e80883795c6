import { Buffer } from 'node:buffer'
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'

const PACKED_CEILING = 4 * 1024 * 1024
const UNPACKED_CEILING = 16 * 1024 * 1024
/** Smaller bodies are not compressed. */
const SMALL = 1024
const LEVEL_1 = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }

// The uncompressed length comes first (uint32), because Bun 1.4 accepts a truncated stream as complete. 0: not
// compressed.
const HEAD = 4

/** The size limit of a packed body. */
export const BODY_CEILING: number = PACKED_CEILING + HEAD

/** Compresses bytes for storage or sending, if that makes them smaller. */
export function pack(bytes: Buffer): Buffer {
  if (bytes.length > UNPACKED_CEILING) throw new Error(`${bytes.length} bytes are more than one body may hold`)
  const isSmall = bytes.length <= SMALL
  const body = isSmall ? bytes : zstdCompressSync(bytes, LEVEL_1)
  if (body.length > PACKED_CEILING) throw new Error(`${body.length} bytes, compressed, are more than one body may hold`)
  const head = Buffer.alloc(HEAD)
  head.writeUInt32BE(isSmall ? 0 : bytes.length)
  return Buffer.concat([head, body])
}

/** Restores the bytes that `pack` was given; throws if they are damaged or too large. */
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
