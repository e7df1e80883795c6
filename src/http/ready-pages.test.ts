import { describe, expect, it } from 'bun:test'
import { type ReadyPage, ReadyPages } from './ready-pages.ts'

const NOW = Date.UTC(2026, 6, 12, 19, 30)

function pageOf(bytes: number, changes = 1): ReadyPage {
  const body = new Uint8Array(bytes)
  return { body, etag: '"0"', next: null, changes, goodFromMs: NOW, goodUntilMs: NOW + 60_000 }
}

describe('ready pages', () => {
  it('are valid while nothing has changed, none of their events has ended, and the clock is not set back', () => {
    const read = (changes: number, nowMs: number): boolean => {
      const pages = new ReadyPages({ pagesBytes: 100_000 })
      pages.keep('a', pageOf(10))
      return pages.read('a', changes, nowMs) !== null
    }
    expect(read(1, NOW)).toBe(true)
    expect(read(1, NOW + 60_000)).toBe(true)
    expect(read(1, NOW + 60_001)).toBe(false)
    expect(read(2, NOW)).toBe(false)
    // A page made by a clock that was ahead may omit events that have not ended.
    expect(read(1, NOW - 1)).toBe(false)
  })

  it('stay below their ceiling, drop the least recently requested first, and keep no large page', () => {
    const pages = new ReadyPages({ pagesBytes: 100_000 })
    const has = (key: string): boolean => pages.read(key, 1, NOW) !== null
    for (let each = 0; each < 9; each++) {
      pages.keep(`${each}`, pageOf(10_000))
      expect(has('0')).toBe(true)
    }
    expect(Array.from({ length: 9 }, (_, each) => has(`${each}`))).toEqual([
      true,
      ...Array.from({ length: 8 }, () => true),
    ])
    pages.keep('more', pageOf(10_000))
    expect([has('0'), has('more')]).toEqual([false, true])
    pages.keep('large', pageOf(12_501))
    expect([has('1'), has('large')]).toEqual([true, false])
  })
})
