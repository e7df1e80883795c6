/**
 * A program: `FILE SECONDS [ROUNDS [ONE_IN]]` writes a list again every so many seconds, with the tickets of one row in so
 * many changed (a hundred where it is not said; 1 is every row), and says so each time. It shares a core with the client
 * that measures, so it never works for long: a slice of the file, then a rest. The last row is changed in the first round.
 */
import { Buffer } from 'node:buffer'
import {
  closeSync,
  constants,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'

const FIELD = Buffer.from('"TicketsAvailable":')
/** Of three digits there are these, without a zero in front. */
const [DIGITS, LEAST, VALUES] = [3, 100, 150]
const ZERO = 48
const SLICE_BYTES = 64 * 1024
/** So many rounds after it was replaced nobody reads a file any more. */
const KEPT_FILES = 8

const [file = '', seconds = '', rounds = 'Infinity', oneIn = '100'] = process.argv.slice(2)
const list = readFileSync(file)
const fields = placesIn(list)
forgetOthers()
const roundMs = Number(seconds) * 1000
const stride = Number(oneIn)
console.log('{"event":"ready"}')
const startedMs = performance.now()

for (let round = 1; round <= Number(rounds); round++) {
  for (let index = fields.length - 1 - ((round - 1) % stride); index >= 0; index -= stride) {
    countOn(fields[index] ?? 0)
  }
  await putBy(startedMs + round * roundMs, round)
  console.log(JSON.stringify({ round, atMs: Date.now() }))
}

/** Counts three digits from 100 to 249 and around, in place and without a text: a thousand of them must take no time. */
function countOn(at: number): void {
  let tickets = 0
  for (let digit = 0; digit < DIGITS; digit++) tickets = tickets * 10 + (list[at + digit] ?? 0) - ZERO
  tickets = LEAST + ((tickets + 1 - LEAST) % VALUES)
  for (let digit = DIGITS - 1; digit >= 0; digit--) {
    list[at + digit] = ZERO + (tickets % 10)
    tickets = Math.floor(tickets / 10)
  }
}

/** Where the three digits of each row stand. */
function placesIn(rows: Buffer): number[] {
  const places: number[] = []
  for (let at = rows.indexOf(FIELD); at !== -1; at = rows.indexOf(FIELD, at + 1)) places.push(at + FIELD.length)
  return places
}

/** Writes slices at even distances into the round's own file, and gives that the list's name at `endMs`. */
async function putBy(endMs: number, round: number): Promise<void> {
  const fromMs = endMs - roundMs
  const own = ownFile(round)
  const to = openSync(own, constants.O_WRONLY | constants.O_CREAT)
  for (let at = 0; at < list.length; at += SLICE_BYTES) {
    writeSync(to, list, at, Math.min(SLICE_BYTES, list.length - at), at)
    await restUntil(fromMs + (roundMs * at) / list.length)
  }
  await restUntil(endMs)
  closeSync(to)
  linkSync(own, `${file}.next`)
  renameSync(`${file}.next`, file)
}

/** A file that lost its last name would be freed at once, which takes ms; so each keeps one, and is written again later. */
function ownFile(round: number): string {
  return `${file}.${round % KEPT_FILES}`
}

/** Frees what a writer before kept, while nothing is measured yet, and has the list keep a name too. */
function forgetOthers(): void {
  for (const name of readdirSync(dirname(file))) {
    if (name.startsWith(`${basename(file)}.`)) rmSync(join(dirname(file), name))
  }
  linkSync(file, `${file}.first`)
}

/** Rests in any case, late or not: a slice that followed the other at once would be a burst. */
async function restUntil(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, Math.max(1, ms - performance.now())))
}
