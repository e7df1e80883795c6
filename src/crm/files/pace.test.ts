import { describe, expect, it } from 'bun:test'
import { Pace } from './pace.ts'

describe('the pace of a long read', () => {
  /** The length of the time slice after a pause of `restMs`, `intoMs` into the read. */
  const sliceAfter = async (restMs: number, intoMs = 0, isFirst = false): Promise<number> => {
    let nowMs = 0
    const pace = new Pace(
      isFirst,
      () => nowMs,
      async () => void (nowMs += restMs),
    )
    nowMs = intoMs
    await pace.rest()
    const fromMs = nowMs
    while (!pace.isOver) nowMs += 0.01
    return nowMs - fromMs
  }

  it('takes 2 ms at a time while nobody asks for anything', async () => {
    expect(await sliceAfter(0.05)).toBeCloseTo(2, 1)
  })

  it('takes a sixth of what the requests took that waited', async () => {
    expect(await sliceAfter(1.8)).toBeCloseTo(0.3, 1)
  })

  it('takes as long as they, once it has gone on for 5 s', async () => {
    expect(await sliceAfter(1.8, 4000)).toBeCloseTo(0.3, 1)
    expect(await sliceAfter(1.8, 5000)).toBeCloseTo(1.8, 1)
  })

  it('takes 2 ms at a time if no request can be answered before it has ended, even if requests wait', async () => {
    expect(await sliceAfter(1.8, 0, true)).toBeCloseTo(2, 1)
  })

  it('never takes longer than 2 ms, nor less than a tenth of one', async () => {
    expect(await sliceAfter(50)).toBeCloseTo(2, 1)
    expect(await sliceAfter(50, 6000)).toBeCloseTo(2, 1)
    expect(await sliceAfter(0.2)).toBeCloseTo(0.1, 1)
  })
})
