const LONGEST = 64
/** The most names to compare: a CRM may have more, and comparing all would take seconds. */
const MOST_NAMES = 5000

/**
 * Returns the name that was most likely meant: equal except for case, or with few typing errors; `null` if none is
 * near.
 */
export function nearestName(spelling: string, names: Iterable<string>): string | null {
  if (spelling.length > LONGEST) return null
  const wanted = foldedCase(spelling)
  let best: string | null = null
  let bestSlips = Math.max(1, Math.floor(spelling.length / 3)) + 1
  let looked = 0
  for (const name of names) {
    looked++
    if (looked > MOST_NAMES) break
    if (Math.abs(name.length - spelling.length) >= bestSlips) continue
    const slips = slipsBetween(wanted, foldedCase(name))
    if (slips < bestSlips) {
      best = name
      bestSlips = slips
    }
  }
  return best
}

/** The question that ends a sentence about an unknown name; empty if none is near. */
export function meantHint(near: string | null): string {
  return near === null ? '' : `; did you mean ${JSON.stringify(near)}?`
}

/** Normalizes case and accents: an accent may be part of a letter, or follow it as in file names on a Mac. */
function foldedCase(text: string): string {
  return text.normalize('NFC').toLowerCase()
}

/** Counts the letters added, dropped, changed or swapped with their neighbour (optimal string alignment). */
export function slipsBetween(left: string, right: string): number {
  let before: number[] = []
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (let row = 1; row <= left.length; row++) {
    const current = [row]
    for (let column = 1; column <= right.length; column++) {
      const same = left[row - 1] === right[column - 1]
      let slips = Math.min(
        at(previous, column) + 1,
        at(current, column - 1) + 1,
        at(previous, column - 1) + (same ? 0 : 1),
      )
      const swapped =
        row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1]
      if (swapped) slips = Math.min(slips, at(before, column - 2) + 1)
      current.push(slips)
    }
    before = previous
    previous = current
  }
  return at(previous, right.length)
}

function at(numbers: readonly number[], index: number): number {
  return numbers[index] ?? Number.POSITIVE_INFINITY
}
