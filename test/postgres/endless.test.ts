import { describe, expect, it } from 'bun:test'
import { Child, programOf } from '../support/child.ts'
import { RUNTIMES } from '../support/depth.ts'

/** Of which some 10 MB are what a runtime loads meanwhile. */
const MOST_MB = 100

const NO_POSTGRES = { kind: 'broken', message: 'the server does not speak the PostgreSQL protocol' }
const TOO_LARGE = { kind: 'too-large', message: 'an answer that should be short is larger than 16 MB' }
const TOO_LONG = { kind: 'too-large', message: 'the server sent a message larger than 1 MB that is not a row' }
const COMES: Readonly<Record<string, { readonly kind: string; readonly message: string }>> = {
  'an endless message': NO_POSTGRES,
  'an endless notice': NO_POSTGRES,
  'messages without end': NO_POSTGRES,
  'an endless row': TOO_LARGE,
  'an endless error': TOO_LONG,
  'rows without end': TOO_LARGE,
  'results without end': TOO_LARGE,
}

describe.each(RUNTIMES)('a server of PostgreSQL that sends too much (%s)', (runtime) => {
  it.each(Object.entries(COMES))('is left before it fills the memory: %s', async (sends, comes) => {
    const child = new Child(programOf(runtime), ['test/postgres/endless.ts'], { env: { PG_SENDS: sends } })
    expect([await child.exited, child.stderr]).toEqual([0, ''])
    const { grownMb, ...failure } = JSON.parse(child.stdout) as { grownMb: number }
    expect(failure).toEqual({ ...comes } as never)
    expect(grownMb).toBeLessThan(MOST_MB)
  })
})
