/**
 * A program: `FILE SECONDS [ROUNDS [ONE_IN [MARK]]]`. Rewrites a list every SECONDS with the tickets of one row in ONE_IN
 * changed (default 100; 1 is every row), and prints a line each time. It shares a core with the client that measures,
 * so it works in short slices with pauses. The three digits follow MARK, the text before the cell. The first round changes the last row.
 */
import type { Buffer } from 'node:buffer'
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

/** The numbers of three digits without a leading zero that are used. */
const [DIGITS, LEAST, VALUES] = [3, 100, 150]
const ZERO = 48
const SLICE_BYTES = 64 * 1024
/** After this many rounds no reader has a replaced file open. */
const KEPT_FILES = 8

const [file = '', seconds = '', rounds = 'Infinity', oneIn = '100', mark = '"TicketsAvailable":'] =
  process.argv.slice(2)
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

/** Increments a number from 100 to 249, cyclically, in place: a thousand of them must take no noticeable time. */
function countOn(at: number): void {
  let tickets = 0
  for (let digit = 0; digit < DIGITS; digit++) tickets = tickets * 10 + (list[at + digit] ?? 0) - ZERO
  tickets = LEAST + ((tickets + 1 - LEAST) % VALUES)
  for (let digit = DIGITS - 1; digit >= 0; digit--) {
    list[at + digit] = ZERO + (tickets % 10)
    tickets = Math.floor(tickets / 10)
  }
}

/** Finds the positions of the three digits in each row. */
function placesIn(rows: Buffer): number[] {
  const places: number[] = []
  for (let at = rows.indexOf(mark); at !== -1; at = rows.indexOf(mark, at + 1)) places.push(at + mark.length)
  return places.filter((at) => at < rows.length)
}

/** Writes slices at regular intervals to the round's own file, and renames it to the list at `endMs`. */
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

/**
 * The name of a round's file. Deleting a large file takes ms, so a replaced one keeps a name and is overwritten later.
 */
function ownFile(round: number): string {
  return `${file}.${round % KEPT_FILES}`
}

/** Deletes files of an earlier writer before the measurement, and gives the list a second name too. */
function forgetOthers(): void {
  for (const name of readdirSync(dirname(file))) {
    if (name.startsWith(`${basename(file)}.`)) rmSync(join(dirname(file), name))
  }
  linkSync(file, `${file}.first`)
}

/** Pauses at least 1 ms, even if late: consecutive slices would be a burst. */
async function restUntil(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, Math.max(1, ms - performance.now())))
}
