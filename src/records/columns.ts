import { Buffer } from 'node:buffer'

// Shared by all columns that are still empty: a list has 256 shards, and a typed array each for theirs took 10 ms at start.
export const EMPTY_BYTES: Buffer = Buffer.alloc(0)
export const EMPTY_WORDS: Uint32Array = new Uint32Array(0)
export const EMPTY_FLOATS: Float64Array = new Float64Array(0)

/** A larger column that begins with what is in the one before. */
export function grown<Column extends { set(from: Column): void }>(from: Column, to: Column): Column {
  to.set(from)
  return to
}
