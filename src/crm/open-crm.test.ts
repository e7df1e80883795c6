import { expect, it } from 'bun:test'
import type { Observation } from '../observe/observation.ts'
import type { PageStream, ReadRequest, ListSource } from '../sync/port.ts'
import { countReads } from './open-crm.ts'

const PAGE = { begunAt: { monotonicMs: 0, wallMs: 0 }, sourceLagMs: 0, changes: [], whereIs: () => '' }

function counted(read: () => PageStream<never>): { readonly read: () => PageStream<never>; readonly seen: string[] } {
  const seen: string[] = []
  const source = { read } as unknown as ListSource<never>
  countReads(source, (observation: Observation) => {
    if (observation.kind === 'crm-request') seen.push(observation.outcome)
  })
  return { read: () => source.read({} as unknown as ReadRequest), seen }
}

it('counts a read that throws as a bug, and one that is given up as too slow', async () => {
  const thrown = counted(async function* () {
    yield PAGE
    throw new Error('a bug')
  })
  const reading = thrown.read()
  await reading.next()
  await reading.next().catch(() => {})
  expect(thrown.seen).toEqual(['internal'])

  const abandoned = counted(async function* (): PageStream<never> {
    for (;;) yield PAGE
  })
  const endless = abandoned.read()
  await endless.next()
  await endless.return({ ok: false, failure: { kind: 'internal', message: 'abandoned', retryAfterMs: null } })
  expect(abandoned.seen).toEqual(['timeout'])
})
