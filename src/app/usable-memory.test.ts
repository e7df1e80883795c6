import { expect, it } from 'bun:test'
import { usualReadyBytes } from './usable-memory.ts'

it('bodies get an eighth of the memory that the process may use, 128 MB to 2 GB', () => {
  expect([100e6, 1024e6, 1e9, 8e9, 16e9, 64e9].map((usable) => usualReadyBytes(usable))).toEqual([
    128e6, 128e6, 128e6, 1e9, 2e9, 2e9,
  ])
  const here = usualReadyBytes()
  expect([here >= 128e6, here <= 2e9]).toEqual([true, true])
})
