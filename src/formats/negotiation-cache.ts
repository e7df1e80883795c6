import { Buffer } from 'node:buffer'
import type { MediaType } from './media-types.ts'
import { negotiate } from './negotiation.ts'

/** Longer headers are negotiated each time: browsers send some 150 characters, and a key must stay small. */
export const LONGEST_KEPT = 512

/**
 * A `negotiate` that remembers its answers, at most `ceiling` of them, for clients send the same few headers.
 *
 * It keeps two generations of half the ceiling each. When the young one is full the old one is dropped whole, and a header
 * met in the old one moves to the young one: so a header in use outlives a flood of random ones, and nothing is sorted.
 */
export function createNegotiator(
  ceiling: number = 512,
  decide: (accept: string) => MediaType = negotiate,
): (accept: string | null) => MediaType {
  const generation = Math.max(1, Math.floor(ceiling / 2))
  let young = new Map<string, MediaType>()
  let old = new Map<string, MediaType>()
  return (accept) => {
    if (accept === null) return negotiate(null)
    // Looked at first, since a lookup hashes the whole of the text.
    if (accept.length > LONGEST_KEPT) return decide(accept)
    const known = young.get(accept)
    if (known !== undefined) return known
    const answer = old.get(accept) ?? decide(accept)
    const key = ownCopy(accept)
    if (key === null) return answer
    if (young.size >= generation) {
      old = young
      young = new Map()
    }
    young.set(key, answer)
    return answer
  }
}

/**
 * An equal text that shares no memory: a slice of a request's text would keep all of that text alive. Null for one that
 * Latin-1 cannot hold, which no header does whose bytes were read as RFC 9110 §5.5 has them.
 */
function ownCopy(text: string): string | null {
  // By way of bytes: of a concatenation and its slice JavaScriptCore makes the first slice again.
  const copy = Buffer.from(text, 'latin1').toString('latin1')
  return copy === text ? copy : null
}
