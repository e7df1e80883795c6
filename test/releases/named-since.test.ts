import { describe, expect, it } from 'bun:test'
import { namedSince } from './named-since.ts'

const CHANGELOG = `# Changelog

## 0.10.0 (2037-01-01)

- The metric \`marquee_waiting\` is now \`marquee_waiting_requests\`. The snapshot format has changed.

## 0.2.0 (2036-01-01)

- \`limits.queue\` is gone.
`

describe('a name that a later release dropped', () => {
  it('is named by the parts of the changelog about later versions alone', () => {
    const since = (version: string, name: string): boolean => namedSince(CHANGELOG, version)(name)
    expect(since('0.1.0', 'limits.queue')).toBe(true)
    expect(since('0.2.0', 'limits.queue')).toBe(false)
    expect(since('0.2.0', 'marquee_waiting gauge')).toBe(true)
    expect(since('0.9.0', 'marquee_waiting{list}')).toBe(true)
    expect(since('0.10.0', 'marquee_waiting gauge')).toBe(false)
    expect(since('0.2.0', 'snapshot format')).toBe(true)
    expect(since('0.2.0', 'marquee_wait gauge')).toBe(false)
    expect(since('0.1.0', 'limits.idle')).toBe(false)
  })
})
