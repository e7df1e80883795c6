import { describe, expect, it } from 'bun:test'
import { SharedTurn } from './shared-turn.ts'

describe('the turn on the one connection', () => {
  it('is given first come, first served', async () => {
    const turn = new SharedTurn()
    const order: string[] = []
    await turn.take()
    const second = turn.take().then(() => void order.push('second'))
    const third = turn.take().then(() => void order.push('third'))
    turn.leave()
    await second
    expect(order).toEqual(['second'])
    turn.leave()
    await third
    expect(order).toEqual(['second', 'third'])
  })

  it('stays with a parked holder whom nobody disturbs', async () => {
    const turn = new SharedTurn()
    await turn.take()
    turn.park(() => Promise.reject(new Error('nobody asked')))
    expect(await turn.resume()).toBe(true)
  })

  it('passes from a parked holder to who wants it, once the holder has made way', async () => {
    const turn = new SharedTurn()
    const order: string[] = []
    await turn.take()
    turn.park(async () => void order.push('made way'))
    await turn.take()
    order.push('other')
    expect(await turn.resume()).toBe(false)
    const back = turn.take().then(() => void order.push('back'))
    turn.leave()
    await back
    expect(order).toEqual(['made way', 'other', 'back'])
  })

  it('passes at once where somebody was waiting before the holder parked', async () => {
    const turn = new SharedTurn()
    await turn.take()
    const other = turn.take()
    turn.park(async () => {})
    await other
    expect(await turn.resume()).toBe(false)
  })
})
