import { describe, expect, it } from 'bun:test'
import { Pace } from './pace.ts'

describe('the pace of a long read', () => {
  let nowMs = 0
  let restMs = 0
  const pace = (): Pace =>
    new Pace(
      () => nowMs,
      async () => void (nowMs += restMs),
    )
  /** How long the slice lasts that begins after a rest of so long. */
  const sliceAfter = async (ms: number): Promise<number> => {
    const paced = pace()
    restMs = ms
    await paced.rest()
    const fromMs = nowMs
    while (!paced.isOver) nowMs += 0.01
    return nowMs - fromMs
  }

  it('takes 2 ms at a time while nobody asks for anything', async () => {
    expect(await sliceAfter(0.05)).toBeCloseTo(2, 1)
  })

  it('takes half as long as the requests that waited', async () => {
    expect(await sliceAfter(1.2)).toBeCloseTo(0.6, 1)
  })

  it('never takes longer than 2 ms, nor less than a quarter of one', async () => {
    expect(await sliceAfter(50)).toBeCloseTo(2, 1)
    expect(await sliceAfter(0.2)).toBeCloseTo(0.25, 1)
  })
})
