import { describe, expect, it } from 'bun:test'
import type { Guid } from '../domain/guid.ts'
import { KeptTexts } from './feeds.ts'

const ID = 'a0000000-0000-4000-8000-000000000001' as Guid
const OTHER = 'a0000000-0000-4000-8000-000000000002' as Guid

/** Returns whether the text was made for this call. */
function isMade(texts: KeptTexts, id: Guid, packed: string, beside = ''): boolean {
  let made = false
  const text = texts.of(id, packed, beside, () => {
    made = true
    return `${packed} ${beside}`
  })
  expect(text).toBe(`${packed} ${beside}`)
  return made
}

describe('kept texts', () => {
  it('are made again only if the record, or what else they are made of, has changed', () => {
    const texts = new KeptTexts(1000)
    expect(isMade(texts, ID, 'gala', 'hall')).toBe(true)
    expect(isMade(texts, ID, 'gala', 'hall')).toBe(false)
    expect(isMade(texts, OTHER, 'gala', 'hall')).toBe(true)
    expect(isMade(texts, ID, 'gala', 'Hall')).toBe(true)
    expect(isMade(texts, ID, 'Gala', 'Hall')).toBe(true)
    expect(isMade(texts, ID, 'gala', 'hall')).toBe(true)
  })

  it('stay within their room, in which a record that changes again and again takes one place', () => {
    const texts = new KeptTexts(200)
    for (let change = 0; change < 100; change++) isMade(texts, ID, `gala ${change}`)
    expect(isMade(texts, ID, 'gala 99')).toBe(false)
    isMade(texts, OTHER, 'x'.repeat(150))
    expect(isMade(texts, ID, 'gala 99')).toBe(true)
  })
})
