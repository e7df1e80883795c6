import { describe, expect, it } from 'bun:test'
import type { LineStream } from './line-sink.ts'
import { LineSink } from './line-sink.ts'

type Then = (cause?: Error | null) => void

/** A stream that keeps every write until the test lets it go. */
class SlowStream implements LineStream {
  readonly texts: string[] = []
  readonly pending: Then[] = []
  errorListeners = 0

  write(text: string, then: Then): void {
    this.texts.push(text)
    this.pending.push(then)
  }

  on(): void {
    this.errorListeners++
  }
}

describe('a line sink', () => {
  it('listens for errors, which would end the process otherwise', () => {
    const stream = new SlowStream()
    const sink = new LineSink(stream)
    expect([stream.errorListeners, sink.dropped]).toEqual([1, 0])
  })

  it('drops and counts lines while more is unread than it may hold, and goes on when they were read', () => {
    const stream = new SlowStream()
    const sink = new LineSink(stream, 10)
    for (const line of ['1234', '1234', '1234', '12345678901']) sink.write(line)
    expect([stream.texts.length, sink.dropped]).toEqual([2, 2])
    for (const then of stream.pending) then()
    sink.write('again')
    expect(stream.texts.at(-1)).toBe('again\n')
  })

  it('counts what a full disk or a reader that is gone did not take', () => {
    const stream = new SlowStream()
    const sink = new LineSink(stream)
    sink.write('lost')
    stream.pending[0]?.(new Error('ENOSPC'))
    expect(sink.dropped).toBe(1)
    const throwing = new LineSink({
      on: () => {},
      write() {
        throw new Error('ENOSPC')
      },
    })
    expect(() => throwing.write('lost')).not.toThrow()
    expect(throwing.dropped).toBe(1)
  })

  it('is drained when all that was written so far is out', async () => {
    const stream = new SlowStream()
    const sink = new LineSink(stream)
    await sink.drained()
    sink.write('one')
    let over = false
    const drained = sink.drained().then(() => (over = true))
    await Promise.resolve()
    expect(over).toBe(false)
    stream.pending[0]?.()
    await drained
    expect(over).toBe(true)
  })
})
