import { spawnSync } from 'node:child_process'
import { afterEach, beforeEach, expect, it } from 'bun:test'
import { planSeeds } from '../support/depth.ts'
import { eventually } from '../support/eventually.ts'
import { RedisServer } from '../support/redis-server.ts'
import { describeWithRedis } from './needs-redis.ts'
import { RealFleet } from './real-fleet.ts'
import type { RealInstance } from './real-instance.ts'

/** An entry that cannot be read costs some 15 s, and several times as much on a slow machine. */
const LONG_AGE_MS = 120_000
/** Elections and heartbeats without end would show by then. */
const SETTLED_MS = 5000
const LARGE_BYTES = 300 * 1024 * 1024
/** The store makes the entry by itself: sent through a pipe it would be copied six times. */
const ADD_LARGE = "return redis.call('XADD', KEYS[1], '*', 'h', '{}', 'b', string.rep('x', tonumber(ARGV[1])))"
const FIELDS = 300_000

let redis: RedisServer
let fleet: RealFleet

beforeEach(async () => {
  redis = await RedisServer.start()
  fleet = new RealFleet({ cluster: { url: redis.url, heartbeat: '100ms', readersWhenLost: 1 } }, {}, LONG_AGE_MS)
})

afterEach(async () => {
  await fleet.end()
  await redis.remove()
})

function logKey(): string {
  return redis.ask('KEYS', 'marquee:{*}:log')
}

/** Gives `redis-cli` these commands on its standard input. */
function feed(input: string, ...args: readonly string[]): void {
  const { status, stderr } = spawnSync('redis-cli', ['-p', String(redis.port), ...args], { input, maxBuffer: 1e9 })
  if (status !== 0) throw new Error(String(stderr))
}

/** What an operator, or somebody without a key, may do to the store. */
const DEEDS: Readonly<Record<string, () => void>> = {
  'a later entry that was written and deleted': () => {
    const id = redis.ask('XADD', logKey(), '*', 'a', 'slip')
    redis.ask('XDEL', logKey(), id)
  },
  'the highest entry there can be, trimmed with all others': () => {
    redis.ask('XADD', logKey(), '18446744073709551615-18446744073709551615', 'a', 'slip')
    redis.ask('XTRIM', logKey(), 'MAXLEN', '0')
  },
  'an entry of 300 MB': () => redis.ask('EVAL', ADD_LARGE, '1', logKey(), String(LARGE_BYTES)),
  '300,000 foreign fields among the nonces': () => {
    const nonces = logKey().replace(/log$/, 'nonces')
    const fields = Array.from(
      { length: FIELDS },
      (_, at) => `HSET ${nonces} ${at.toString(16).padStart(16, '0')} nothing`,
    )
    feed(fields.join('\n'), '--pipe')
  },
  'a text in place of the nonces': () => {
    const nonces = logKey().replace(/log$/, 'nonces')
    redis.ask('DEL', nonces)
    redis.ask('SET', nonces, 'a text')
  },
  'a text in place of the log': () => {
    const log = logKey()
    redis.ask('DEL', log)
    redis.ask('SET', log, 'a text')
  },
}

const TRIED = Object.entries(DEEDS).slice(0, planSeeds(Object.keys(DEEDS).length).length)

/** Waits until all answer what the CRM has now, one leads, and nothing is wrong any more. */
async function untilWell(of: readonly RealInstance[]): Promise<void> {
  fleet.write()
  await fleet.untilEqual(of)
  await fleet.leader(of)
  for (const instance of of) {
    await eventually(
      () => instance.status(),
      (told) => told?.cluster.connected === true && told.cluster.lastError === null,
    )
  }
}

describeWithRedis('what lies in the store, and no instance wrote,', () => {
  it.each(TRIED)('keeps no caller of those that run from an answer: %s', async (_, deed) => {
    const both = [await fleet.start('bun'), await fleet.start('node')]
    await fleet.leader()
    await fleet.untilEqual()
    let isOver = false
    fleet.beginWriting()
    const calls = both.map((instance) => fleet.call(instance, () => isOver))
    try {
      deed()
      await new Promise((resolve) => setTimeout(resolve, SETTLED_MS))
      await fleet.untilEqual()
    } finally {
      isOver = true
      fleet.endWriting()
    }
    const outcomes = await Promise.all(calls)
    const isWell = outcomes.every(({ wrong, unavailable }) => wrong.length === 0 && unavailable === 0)
    // A failure here is rare, and only the instances can tell what they went through.
    if (!isWell)
      for (const {
        process: { child },
      } of both)
        console.error(`${child.stdout}${child.stderr}`)
    for (const { wrong, unavailable } of outcomes) {
      expect([wrong.slice(0, 3), unavailable]).toEqual([[], 0])
    }
    await untilWell(both)
  })

  it.each(TRIED)('is in the way of none that begins after all were killed: %s', async (_, deed) => {
    const before = [await fleet.start('node'), await fleet.start('bun')]
    await fleet.leader()
    await fleet.untilEqual()
    for (const { process } of before) process.child.signal('SIGKILL')
    for (const instance of before) await fleet.stop(instance)
    deed()
    await untilWell([await fleet.start('bun'), await fleet.start('node')])
  })
})
