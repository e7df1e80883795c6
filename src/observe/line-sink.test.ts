import { describe, expect, it } from 'bun:test'
import { type LineStream, LineSink } from './line-sink.ts'

type Then = (cause?: Error | null, written?: number) => void

const LOST = (lines: number): string => `lost ${lines}`

/** A stream that keeps every write until the test releases it. */
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
    const sink = new LineSink(stream, LOST)
    expect([stream.errorListeners, sink.dropped]).toEqual([1, 0])
  })

  it('drops and counts lines while too much is unread, and continues when the lines were read', () => {
    const stream = new SlowStream()
    const sink = new LineSink(stream, LOST, 10)
    for (const line of ['1234', '1234', '1234', '12345678901']) sink.write(line)
    expect([stream.texts.length, sink.dropped]).toEqual([2, 2])
    for (const then of stream.pending) then()
    sink.write('again')
    expect(stream.texts.at(-1)).toBe('again\n')
  })

  it('counts lines that a full disk or a closed pipe did not take', () => {
    const stream = new SlowStream()
    const sink = new LineSink(stream, LOST)
    sink.write('lost')
    stream.pending[0]?.(new Error('ENOSPC'))
    expect(sink.dropped).toBe(1)
    const throwing = new LineSink(
      {
        on: () => {},
        write() {
          throw new Error('ENOSPC')
        },
      },
      LOST,
    )
    expect(() => throwing.write('lost')).not.toThrow()
    expect(throwing.dropped).toBe(1)
  })

  it('is drained when all lines so far are written', async () => {
    const stream = new SlowStream()
    const sink = new LineSink(stream, LOST)
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

  /** A disk with room for `free` bytes, and its contents. */
  function aDisk(): { disk: { free: number; text: string }; sink: LineSink } {
    const disk = { free: Infinity, text: '' }
    const stream: LineStream = {
      on: () => {},
      write(text, then) {
        const written = Math.min(text.length, disk.free)
        disk.free -= written
        disk.text += text.slice(0, written)
        then(written < text.length ? new Error('ENOSPC') : null, written)
      },
    }
    return { disk, sink: new LineSink(stream, LOST) }
  }

  it.each([
    ['nothing of a line', 0, 0, 'one\nlost 2\nthree\n'],
    ['a part of a line', 2, 0, 'one\ntw\nlost 2\nthree\n'],
    ['a line but its end', 3, 0, 'one\ntwo\nlost 2\nthree\n'],
    ['a part, then a line feed alone', 2, 1, 'one\ntw\nlost 2\nthree\n'],
    ['a part, then one of what was lost', 2, 3, 'one\ntw\nlo\nlost 2\nthree\n'],
  ])('begins a new line, and says how many were lost, after a disk took %s', (_, free, then, text) => {
    const { disk, sink } = aDisk()
    sink.write('one')
    disk.free = free
    sink.write('two')
    disk.free = then
    sink.write('two and a half')
    disk.free = Infinity
    sink.write('three')
    sink.write('four')
    expect([disk.text, sink.dropped]).toEqual([`${text}four\n`, 2])
  })

  it('reports the number of lost lines once a stopped reader continues', () => {
    const stream = new SlowStream()
    const sink = new LineSink(stream, LOST, 10)
    for (const line of ['1234', '1234', '1234', '1234']) sink.write(line)
    for (const then of stream.pending.splice(0)) then()
    sink.write('5')
    expect(stream.texts.slice(2)).toEqual(['lost 2\n', '5\n'])
  })

  it('continues to count if the number of lost lines cannot be written either', () => {
    const stream = new SlowStream()
    const sink = new LineSink(stream, LOST)
    const fail = (): void => {
      for (const then of stream.pending.splice(0)) then(new Error('EPIPE'))
    }
    sink.write('1')
    fail()
    sink.write('2')
    fail()
    sink.write('3')
    expect([stream.texts.at(-2)?.trim(), stream.texts.at(-1), sink.dropped]).toEqual(['lost 2', '3\n', 2])
  })
})
