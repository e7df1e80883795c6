import { describe, expect, it } from 'bun:test'
import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { Secret } from '../../domain/secret.ts'
import { eventually } from '../../../test/support/eventually.ts'
import type { Observation } from '../../observe/observation.ts'
import type { Time } from '../../time/time.ts'
import { GivenSettings } from '../context/given-settings.ts'
import { ChildPrints, killGroup, residentBytes, spawnBare } from './child-watch.ts'

const KEY = `key-${'0123456789abcdef'.repeat(150)}`
const time: Time = { now: () => ({ monotonicMs: 0, wallMs: 0 }), after: () => () => {}, random: () => 0.5 }

/** Returns what is logged of the chunks that a program prints. */
async function logged(...chunks: readonly string[]): Promise<readonly string[]> {
  const seen: Observation[] = []
  const settings = new GivenSettings({ key: new Secret(KEY, { name: 'the file key', reread: null }) })
  const prints = new ChildPrints('crm.mjs', settings, (observation) => seen.push(observation), time)
  const printed = new PassThrough()
  prints.follow(printed)
  for (const chunk of chunks) printed.write(chunk)
  await new Promise((resolve) => {
    printed.on('end', resolve).end()
  })
  return seen.flatMap((observation) => (observation.kind === 'crm-noticed' ? [observation.message] : []))
}

describe('what a connector prints', () => {
  it('is logged line by line, however its chunks are cut', async () => {
    const lines = await logged('one\ntw', 'o\nthree')
    expect(lines).toEqual(['crm.mjs says: one', 'crm.mjs says: two', 'crm.mjs says: three'])
  })

  it('shows no part of a secret in a long line', async () => {
    for (const before of [300, 450, 1990, 65_000]) {
      const half = KEY.length / 2
      const parts = ['.'.repeat(before) + KEY.slice(0, half), `${KEY.slice(half)} and more\n`, 'the next line\n']
      const lines = await logged(...parts)
      expect(lines.map((line) => [line.length <= 500, /0123456789|abcdef/.test(line)])).toEqual([
        [true, false],
        [true, false],
      ])
    }
  })

  it('is cut after the beginning of a line without end, whose rest is left out', async () => {
    const lines = await logged('x'.repeat(70_000), 'y'.repeat(70_000), 'z\nthe next line\n')
    expect(lines.map((line) => line.slice(0, 20))).toEqual(['crm.mjs says: xxxxxx', 'crm.mjs says: the ne'])
  })
})

describe.skipIf(process.platform !== 'linux')('the memory of a process', () => {
  it('is what it holds itself', async () => {
    const child = spawnBare('sh', ['-c', "x=$(head -c 40000000 /dev/zero | tr '\\0' a); sleep 60"], '/')
    const seen = await eventually(
      async () => residentBytes(child) ?? 0,
      (bytes) => bytes > 40_000_000,
    ).finally(() => killGroup(child))
    expect(seen).toBeGreaterThan(40_000_000)
  })

  it('is null once the process has ended', async () => {
    const child = spawnBare('true', [], '/')
    await new Promise((resolve) => {
      child.once('close', resolve)
    })
    expect(residentBytes(child)).toBeNull()
  })
})

const LASTS_S = 20

it.skipIf(process.platform === 'win32')(
  'ends what a program has started, too',
  async () => {
    const child = spawnBare('/bin/sh', ['-c', `sleep ${LASTS_S} & echo started; wait`], '/')
    if (child.stdout === null) throw new Error('it has no output')
    await once(child.stdout, 'data')
    const begunMs = performance.now()
    // Its output closes only once nothing holds it any more.
    const closed = once(child, 'close')
    killGroup(child)
    await closed
    expect(performance.now() - begunMs).toBeLessThan((LASTS_S * 1000) / 2)
  },
  60_000,
)
