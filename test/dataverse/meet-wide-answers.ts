// Run by wide-answers.test.ts on each runtime: reads meet answers of 15 MB that are wide and shallow; the longest turn
// of each goes out line by line.
import { slowness } from '../support/machine-speed.ts'
import { costOf } from '../support/turns.ts'
import { eventValues, fill, idOf, openEnvironment } from './environment.ts'
import { RawFront } from './raw-front.ts'
import { rigOf } from './rig.ts'

const BYTES = 15_000_000
/**
 * The promise is 50 ms; the rest is for a machine that does much else: an answer parsed at once takes 350 ms to 2 s.
 */
const LONGEST_TURN_MS = 100 * (await slowness())
const TRIES = 6

const many = (part: string): string => part.repeat(Math.floor(BYTES / part.length))
const members = (): string => Array.from({ length: BYTES / 13 }, (_, at) => `"a${at}":1`.padEnd(12, ' ')).join(',')

/** The requests of a read, by their paths. */
const STEPS = {
  'first page': /events\?\$select=[^&]*$/,
  labels: /OptionSet/,
  changes: /deltatoken/,
} as const

/** Answers, and the step of a read that meets each. */
const ANSWERS: Readonly<Record<string, readonly [step: keyof typeof STEPS, write: () => string]>> = {
  'a row of many members': ['changes', () => `{"value":[{${members()}}]}`],
  'members beside the rows': ['first page', () => `{"value":[{"a":1}],${members()}}`],
  'tiny rows': ['first page', () => `{"value":[${many('{},')}{}]}`],
  'tiny rows, indented': ['changes', () => `{ "value": [ ${many('{ }, ')}{ } ]}`],
  'rows of a member': ['first page', () => `{"value":[${many('{"a":1.50},')}{}]}`],
  brackets: ['first page', () => many('[')],
  'brackets as a row': ['first page', () => `{"value":[${many('[')}`],
  'a list of numbers': ['first page', () => `{"value":[{"a":[${many('1.5,')}1]}]}`],
  'a list of lists': ['labels', () => `{"value":[{"a":[${many('[],')}[]]}]}`],
  'what looks like rows in a text': ['first page', () => `{"value":[{"a":"${many('},{')}"}]}`],
  'a long name': ['first page', () => `{"value":[{"msevtmgt_name":"${many('a')}"}]}`],
  'a long name of escapes': ['first page', () => `{"value":[{"msevtmgt_name":"${many(String.raw`\u00e9`)}"}]}`],
  'a text of codes': ['first page', () => `{"value":[{"cr5_tags":"${many('1,')}1"}]}`],
  options: ['labels', () => `{"OptionSet":{"Options":[${many('{"Value":1},')}{}]}}`],
}
const front = new RawFront()
const origin = await front.listen()
const environment = await openEnvironment({ publicOrigin: origin })
const { standIn, events } = environment
front.target = standIn.port
fill(environment, 1)
events.put(idOf(1), eventValues(1, { cr5_tags: '2' }))
const tags = { kind: 'column', column: 'cr5_tags', whenBlank: null, label: true } as const
const settings = { origin, authority: origin, events: { from: 'msevtmgt_events', fields: { Tags: tags } } }

/** The longest turn of a read that meets the answer at this step. */
async function meet(step: keyof typeof STEPS, bytes: Buffer): Promise<number> {
  const rig = await rigOf(standIn, { timeoutMs: 60_000, settings })
  const { refresh } = rig.replica.events
  if (step === 'changes') await refresh.attempt()
  front.fault = { isFor: (path) => STEPS[step].test(path), answer: (socket) => void socket.write(bytes) }
  const { turnMs } = await costOf(async () => void (await refresh.attempt()))
  front.fault = null
  await rig.crm.close()
  return turnMs
}

for (const [name, [step, write]] of Object.entries(ANSWERS)) {
  const body = Buffer.from(write())
  const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`
  const bytes = Buffer.concat([Buffer.from(head), body])
  let turnMs = Number.POSITIVE_INFINITY
  for (let tried = 0; tried < TRIES && turnMs > LONGEST_TURN_MS; tried++)
    turnMs = Math.min(turnMs, await meet(step, bytes))
  console.log(JSON.stringify({ name, step, turnMs: Math.round(turnMs), isLong: turnMs > LONGEST_TURN_MS }))
}
process.exit(0)
