import { expect } from 'bun:test'

/** Matches a text that holds this one; typed, unlike the matcher it stands for. */
export function containing(text: string): unknown {
  return expect.stringContaining(text)
}
