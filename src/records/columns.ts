import { Buffer } from 'node:buffer'

// All empty columns share these: a list has 256 shards, and a typed array for each of their columns took 10 ms at
// start.
export const EMPTY_BYTES: Buffer = Buffer.alloc(0)
export const EMPTY_WORDS: Uint32Array = new Uint32Array(0)
export const EMPTY_FLOATS: Float64Array = new Float64Array(0)

/** Returns the larger column `to` with the contents of `from` at its beginning. */
export function grown<Column extends { set(from: Column): void }>(from: Column, to: Column): Column {
  to.set(from)
  return to
}
