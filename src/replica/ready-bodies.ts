import type { Body } from '../formats/body.ts'
import { SHAPES } from '../formats/media-types.ts'
import type { Shard } from './shard.ts'

/** What a kept body costs beside its bytes: the headers of a string or an array, its place among the others. */
const OVERHEAD_BYTES = 96

/**
 * Bodies that were asked for lately, kept beside the packed records under a ceiling of bytes. When it is reached the bodies
 * of one shard after the other are let go: at random ids as good as any order, and it needs no list of who was last.
 */
export class ReadyBodies {
  sizeBytes = 0
  readonly #ceilingBytes: number
  readonly #shards: readonly Shard[]
  #victim = 0

  constructor(shards: readonly Shard[], ceilingBytes: number) {
    this.#shards = shards
    this.#ceilingBytes = ceilingBytes
  }

  keep(shard: Shard, place: number, body: Body): void {
    const size = sizeOf(body)
    // One giant must not push all others out.
    if (size > this.#ceilingBytes / 16) return
    while (this.sizeBytes + size > this.#ceilingBytes) this.#letGo()
    shard.ready[place] = body
    this.sizeBytes += size
  }

  /** The record of a slot changed, or went. */
  forget(shard: Shard, slot: number): void {
    const { ready } = shard
    if (ready.length <= slot * SHAPES.length) return
    for (let place = slot * SHAPES.length; place < (slot + 1) * SHAPES.length; place++) {
      const kept = ready[place]
      if (kept === undefined) continue
      this.sizeBytes -= sizeOf(kept)
      ready[place] = undefined
    }
  }

  #letGo(): void {
    const shard = this.#shards[this.#victim]
    this.#victim = (this.#victim + 1) % this.#shards.length
    if (shard === undefined) return
    for (const kept of shard.ready) if (kept !== undefined) this.sizeBytes -= sizeOf(kept)
    shard.ready = []
  }
}

function sizeOf(body: Body): number {
  return OVERHEAD_BYTES + body.length
}
