import { describe, expect, it } from 'bun:test'
import { MessageLimits } from './message-limits.ts'

function header(type: string, length: number): Buffer {
  const bytes = Buffer.alloc(5)
  bytes.write(type)
  bytes.writeUInt32BE(length, 1)
  return bytes
}

function message(type: string, bytes: number): Buffer {
  return Buffer.concat([header(type, bytes + 4), Buffer.alloc(bytes)])
}

/** Limits after the server has become ready. */
function ready(byBatches: boolean): MessageLimits {
  const limits = new MessageLimits()
  limits.look(message('Z', 1))
  limits.byBatches = byBatches
  return limits
}

describe('what a server of PostgreSQL may send', () => {
  it.each([
    ['R', 300_000, 'the server does not speak the PostgreSQL protocol'],
    ['R', 3, 'the server does not speak the PostgreSQL protocol'],
    ['D', 300_000, 'the server does not speak the PostgreSQL protocol'],
  ])('ends before it is ready with the header %s of %d bytes', (type, length, problem) => {
    expect(new MessageLimits().look(header(type, length))?.message).toBe(problem)
  })

  it.each([
    [true, 'D', 64_000_001, 'a row is larger than 64 MB'],
    [false, 'D', 16_000_001, 'an answer that should be short is larger than 16 MB'],
    [true, 'T', 1_000_001, 'the server sent a message larger than 1 MB that is not a row'],
    [false, 'A', 1_000_001, 'the server sent a message larger than 1 MB that is not a row'],
  ])('ends, once it is ready, with its header (in batches: %p, %s, %d bytes)', (byBatches, type, length, problem) => {
    expect(ready(byBatches).look(header(type, length))?.message).toBe(problem)
  })

  it('is the same wherever it is cut', () => {
    const limits = ready(false)
    const bytes = Buffer.concat([message('T', 30), message('D', 7), message('Z', 1), header('D', 16_000_001)])
    const problems = Array.from(bytes, (byte) => limits.look(Buffer.of(byte)))
    expect(problems.findIndex((problem) => problem !== null)).toBe(bytes.length - 1)
  })

  it('is of any number where nobody keeps it, and in one answer after the other', () => {
    const [rows, answers, notifications] = [ready(true), ready(false), ready(false)]
    const [row, half, answer] = [message('D', 900_000), message('D', 10_000_000), message('Z', 1)]
    const notification = message('A', 900_000)
    for (let count = 0; count < 100; count++) {
      expect(rows.look(row)).toBeNull()
      expect(answers.look(half)).toBeNull()
      expect(answers.look(answer)).toBeNull()
      expect(notifications.look(notification)).toBeNull()
    }
  })

  it('counts what the keeping of many short messages costs', () => {
    const limits = ready(false)
    const rows = Buffer.concat(Array.from({ length: 90_000 }, () => message('D', 2)))
    expect(limits.look(rows)?.message).toBe('an answer that should be short is larger than 16 MB')
  })
})
