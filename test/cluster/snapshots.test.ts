import { beforeAll, describe, expect, it } from 'bun:test'
import { RUNTIMES } from '../support/depth.ts'
import { SNAPSHOT_SENTENCES } from './snapshot-sentences.ts'
import { triedOnNode } from './tried-on-node.ts'

describe('an instance on bun keeps that', () => {
  it.each(Object.entries(SNAPSHOT_SENTENCES))('%s', (_, sentence) => sentence())
})

if (RUNTIMES.includes('node')) {
  describe('an instance on node keeps that', () => {
    let failures: ReadonlyMap<string, string | null> = new Map()
    beforeAll(async () => {
      failures = await triedOnNode('snapshots')
    })

    it.each(Object.keys(SNAPSHOT_SENTENCES))('%s', (name) => {
      expect(failures.get(name)).toBe(null)
    })
  })
}
