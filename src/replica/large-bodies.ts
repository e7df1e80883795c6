import type { Body } from '../formats/body.ts'

/** One that is longer takes too much of the ceiling. */
const LONGEST_BYTES = 4 * 1024 * 1024

/**
 * Bodies too large for the ring, each on its own, the oldest let go: a runtime sends a text without a copy, and who reads
 * slowly, or not at all, would hold a copy of each answer that waits.
 */
export class LargeBodies {
  readonly #ceilingBytes: number
  readonly #queue: { readonly from: Map<number, Body>; readonly place: number; readonly body: Body }[] = []
  #bytes = 0

  constructor(ceilingBytes: number) {
    this.#ceilingBytes = ceilingBytes
  }

  keep(into: Map<number, Body>, place: number, body: Body): void {
    if (body.length > Math.min(LONGEST_BYTES, this.#ceilingBytes)) return
    while (this.#bytes + body.length > this.#ceilingBytes) this.#letGo()
    into.set(place, body)
    this.#queue.push({ from: into, place, body })
    this.#bytes += body.length
  }

  #letGo(): void {
    const oldest = this.#queue.shift()
    if (oldest === undefined) return
    this.#bytes -= oldest.body.length
    // Another may have taken its place since.
    if (oldest.from.get(oldest.place) === oldest.body) oldest.from.delete(oldest.place)
  }
}
