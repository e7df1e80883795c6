import { costOf } from './turns.ts'

/** The processor time of the yardstick on the machine on which the limits of the tests were measured. */
const USUAL_MS = 'Bun' in globalThis ? 14 : 22
const RECORDS = 20_000
const TRIES = 7

/** Work like that of the service: it writes records as JSON, reads them again and looks into their texts. */
function yardstick(): void {
  const rows = Array.from({ length: RECORDS }, (_, index) => ({
    id: `row ${index}`,
    name: `Event ${index}`,
    at: index,
  }))
  const read = JSON.parse(JSON.stringify(rows)) as typeof rows
  const found = read.filter(({ name, id }) => name.endsWith('7') && id.split(' ').length === 2)
  if (found.length !== RECORDS / 10) throw new Error('the yardstick is broken')
}

/**
 * How many times slower this machine is than the one on which limits of processor time were measured; at least 1. Other
 * processes hardly count: the fastest of several tries is taken, by its processor time.
 */
export async function slowness(): Promise<number> {
  let fastestMs = Number.POSITIVE_INFINITY
  for (let tried = 0; tried < TRIES; tried++) fastestMs = Math.min(fastestMs, (await costOf(yardstick)).workMs)
  return Math.max(1, fastestMs / USUAL_MS)
}
