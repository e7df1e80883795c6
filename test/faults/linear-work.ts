import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { assembleAlone } from '../../src/app/assemble.ts'
import { MEDIA_TYPES } from '../../src/formats/media-types.ts'
import { guidOf } from '../model/records.ts'
import { assembledFrom } from '../contract/in-process.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import type { Lists } from '../support/files-directory.ts'
import { slowness } from '../support/machine-speed.ts'
import { type Cost, costOf } from '../support/turns.ts'
import type { HostileCall, HostileFile } from './hostile-texts.ts'
import { EVENT_ROW, HOSTILE_CALLS, HOSTILE_FILES } from './hostile-texts.ts'

// Run by linear-work.test.ts on each runtime: how long hostile texts take, and the longest turn, one line of JSON for
// each fault.

const MB = 1_000_000
/** The promise is 50 ms on a machine that is like the one of the yardstick; the rest is for what it has else to do. */
const LONGEST_TURN_MS = 75 * (await slowness())
/** An answer that is larger is not kept (docs/operations.md): it takes the time that its bytes take. */
const LARGE_ANSWER_BYTES = 4 * 1024 * 1024
const TRIES = 12
/** Four times the text may take eight times as long on a noisy machine; quadratic work takes sixteen times. */
const GROWTH = 8
/** What is below is no work but noise. */
const NOISE_MS = 4

async function open(lists: Lists) {
  const directory = new FilesDirectory({ freshness: { shrinkGuard: 'off', maxAge: '1h' } }, lists)
  const { replica, crm, service } = await assembledFrom(directory.configuration)
  await replica.venues.refresh.attempt()
  if (lists.events !== undefined) await replica.events.refresh.attempt()
  const close = async (): Promise<void> => {
    await replica.stop()
    await crm.close()
    directory.remove()
  }
  return { directory, replica, service, close }
}

/** Reads a file into a service that has none yet, and asks for what it serves of it in each way. */
async function readFile({ ending, content }: HostileFile): Promise<Cost> {
  const { directory, replica, service, close } = await open({ venues: '[]' })
  writeFileSync(join(directory.crm, `events.${ending}`), content)
  const costs = [await costOf(async () => void (await replica.events.refresh.attempt()))]
  for (const accept of MEDIA_TYPES) {
    let length = 0
    const cost = await costOf(async () => {
      const call = callFor({ pathname: `/api/events/${guidOf(1)}`, header: null }, accept)
      length = (await service.answer(call)).body?.length ?? 0
    })
    costs.push(length <= LARGE_ANSWER_BYTES ? cost : { ...cost, turnMs: 0 })
  }
  await close()
  return {
    workMs: costs.reduce((sum, { workMs }) => sum + workMs, 0),
    turnMs: Math.max(...costs.map(({ turnMs }) => turnMs)),
  }
}

type Service = Awaited<ReturnType<typeof assembleAlone>>['service']

function callFor({ pathname, header }: HostileCall, accept: string | null): Parameters<Service['answer']>[0] {
  return { method: 'GET', target: pathname, pathname, header: (name) => (name === 'accept' ? accept : null) ?? header }
}

/** Tries again while it seems wrong: what is wrong stays so. */
async function faultOf(cost: (bytes: number) => Promise<Cost>, bytes: number): Promise<string | null> {
  let smallMs = Number.POSITIVE_INFINITY
  let largeMs = Number.POSITIVE_INFINITY
  let turnMs = Number.POSITIVE_INFINITY
  for (let tried = 0; tried < TRIES; tried++) {
    const large = await cost(bytes)
    largeMs = Math.min(largeMs, large.workMs)
    turnMs = Math.min(turnMs, large.turnMs)
    if (largeMs > GROWTH * NOISE_MS) smallMs = Math.min(smallMs, (await cost(bytes / 4)).workMs)
    if (turnMs > LONGEST_TURN_MS || largeMs > GROWTH * Math.max(smallMs, NOISE_MS)) continue
    longestMs = Math.max(longestMs, turnMs)
    return null
  }
  return `${Math.round(smallMs)} ms, of four times as much ${Math.round(largeMs)} ms, longest turn ${Math.round(turnMs)} ms`
}

let longestMs = 0
const faults: string[] = []
for (const [name, of, part] of HOSTILE_FILES) {
  const fault = await faultOf((bytes) => readFile(of(bytes)), part * MB)
  if (fault !== null) faults.push(`${name}: ${fault}`)
}
const { service, close } = await open({ events: `[${EVENT_ROW}]`, venues: '[]' })
for (const [name, of] of HOSTILE_CALLS) {
  const fault = await faultOf((bytes) => costOf(async () => void (await service.answer(callFor(of(bytes), null)))), MB)
  if (fault !== null) faults.push(`${name}: ${fault}`)
}
await close()
process.stdout.write(`${JSON.stringify({ texts: HOSTILE_FILES.length + HOSTILE_CALLS.length, longestMs, faults })}\n`)
