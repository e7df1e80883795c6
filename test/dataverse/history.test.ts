import { describe, expect, it } from 'bun:test'
import { systemTime } from '../../src/time/time.ts'
import { Chance } from '../model/chance.ts'
import { eventually } from '../support/eventually.ts'
import { openEnvironment, fill } from './environment.ts'
import { EnvironmentHistory } from './environment-history.ts'
import { json, refusal } from './reply.ts'
import { rigOf } from './rig.ts'
import type { Fault, StandIn } from './stand-in.ts'
import { faultSeconds, planSeeds, limitAfter } from '../support/depth.ts'

/** How long each history goes on; a longer one may be asked for. */
const LASTS_MS = 1000 * faultSeconds(3, 5)
const MAX_AGE_MS = 1000
/** A history on a loaded machine goes on until it has been looked at this often, at most `PATIENCE_MS` longer. */
const LOOKS = LASTS_MS / 50
const PATIENCE_MS = 20_000

const reply = (given: Parameters<typeof refusal>): Fault => ({ kind: 'reply', reply: refusal(...given) })

const FAULTS: readonly Fault[] = [
  { kind: 'drop' },
  { kind: 'hang' },
  { kind: 'endless' },
  { kind: 'cut' },
  { kind: 'truncated' },
  { kind: 'reply', reply: { status: 200, headers: { 'content-type': 'text/html' }, body: '<html></html>' } },
  { kind: 'reply', reply: { status: 401, headers: {}, body: '' } },
  { kind: 'reply', reply: { status: 302, headers: { location: '/' }, body: '' } },
  { kind: 'reply', reply: { status: 200, headers: {}, body: '' } },
  { kind: 'reply', reply: json({ error: { code: '', message: '' } }) },
  { kind: 'reply', reply: json({ '@odata.context': '$metadata#msevtmgt_events(msevtmgt_name)', value: [] }) },
  reply([429, '0x80072322', 'exceeded', { 'retry-after': '0.1' }]),
  reply([429, '0x80072321', 'exceeded', { 'retry-after': '0.1' }]),
  reply([503, '', 'busy', { 'retry-after': '0.1' }]),
  reply([500, '0x80040216', 'unexpected']),
  reply([403, '0x80040220', 'missing prvReadmsevtmgt_Event']),
]

/**
 * What a fault of a page may be without being a lie: an empty whole list, as an answer to a full read, would be one.
 */
const IS_FOR_CHANGES_ONLY = 10

function strike(standIn: StandIn, chance: Chance): void {
  const { faults } = standIn.query
  const roll = chance.next()
  if (roll < 0.05) standIn.directory.revoke()
  else if (roll < 0.1) faults.wholeSetOnDelta = !faults.wholeSetOnDelta
  else if (roll < 0.15) faults.emptyJsonWithoutChanges = !faults.emptyJsonWithoutChanges
  else if (roll < 0.2) faults.deletedStrangers = ['2e451703-c686-e711-80e5-0000deadbeef']
  else if (roll < 0.25) standIn.latencyMs = chance.below(25)
  else if (roll < 0.3) standIn.trap('deltatoken', reply([400, '0x80044352', 'expired']))
  else if (roll < 0.35)
    standIn.trap('oauth2', chance.pick([...FAULTS.slice(0, 5), reply([503, '', '', { 'retry-after': '0.1' }])]))
  else {
    const fault = chance.pick(FAULTS)
    const part =
      FAULTS.indexOf(fault) === IS_FOR_CHANGES_ONLY
        ? 'deltatoken'
        : chance.pick(['events', 'skiptoken', 'deltatoken', 'venues'])
    standIn.trap(part, fault, 1 + chance.below(2))
  }
}

async function live(seed: number): Promise<void> {
  const chance = new Chance(seed)
  const environment = await openEnvironment()
  fill(environment, 0)
  const { standIn } = environment
  standIn.query.largestPage = 3
  const history = new EnvironmentHistory(environment, chance.fork())
  const rig = await rigOf(standIn, {
    timeoutMs: 120,
    freshness: { maxAgeMs: MAX_AGE_MS, refreshEveryMs: 40, fullReadEveryMs: 400 },
  })
  rig.replica.start()
  await eventually(
    async () => rig.replica.events.ageMs(systemTime.now()),
    (ageMs) => ageMs !== null,
  )
  const beganAt = performance.now()
  const lastedMs = (): number => performance.now() - beganAt
  const outcomes = (): number =>
    new Set(rig.observations.flatMap((seen) => (seen.kind === 'read-ended' ? [seen.read.outcome] : []))).size
  const isLong = (): boolean => history.looks > LOOKS && outcomes() > 3
  while (lastedMs() < LASTS_MS || (!isLong() && lastedMs() < LASTS_MS + PATIENCE_MS)) {
    if (chance.happens(0.6)) history.happen()
    if (chance.happens(0.03)) strike(standIn, chance)
    history.look(rig.replica)
    await new Promise((resolve) => setTimeout(resolve, 3))
  }
  for (const trap of standIn.traps) trap.times = 0
  standIn.query.faults.wholeSetOnDelta = false
  await rig.replica.stop()
  // A list whose changes could not be read is read in full, and as seldom as its limits ask.
  const quietAt = systemTime.now()
  const { events } = rig.replica
  await eventually(
    () => events.refresh.attempt(),
    () => events.isConfirmedSince(quietAt),
  )
  expect({ seed, wrongs: history.wrongs.slice(0, 5), differences: history.differences(rig.replica) }).toEqual({
    seed,
    wrongs: [],
    differences: [],
  })
  expect(history.looks).toBeGreaterThan(LOOKS)
  expect(outcomes()).toBeGreaterThan(3)
  await rig.crm.close()
  standIn.close()
}

describe('the history of an environment, with faults at random', () => {
  for (const seed of planSeeds(4)) {
    it(`is served as it was, never as it was not (seed ${seed})`, () => live(seed), limitAfter(LASTS_MS + PATIENCE_MS))
  }
})
