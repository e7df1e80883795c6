import { ConnectorSource } from '../../src/crm/connector/connector-source.ts'
import type { EventRecord } from '../../src/domain/event.ts'
import type { PageStream, ReadRequest } from '../../src/sync/port.ts'
import { PAGE_ROWS } from './model-source.ts'
import type { Mutant } from './mutants.ts'
import { LAST_PAGE } from './own-connector.ts'
import { CONNECTORS } from './plans.ts'
import { settingOf } from './setting.ts'

type Reading = PageStream<EventRecord>

/** Defects of the connector kit. */
export const CONNECTOR_MUTANTS: readonly Mutant[] = [
  ...CONNECTORS.slice(0, 3).map((connector): Mutant => ({
    name: `takes the moment after the answer, with ${connector.ways.join(', ')}`,
    setting: settingOf({ ...connector, maxAgeMs: 1000, latencyMs: 300, patienceMs: 10_000, trouble: 0 }),
    breakIt: (now) =>
      overrideReads(async function* late(read): Reading {
        const ended = yield* read
        return ended.ok ? { ...ended, asOf: now().now() } : ended
      }),
  })),
  {
    name: 'takes a short page for the end of a list',
    setting: settingOf({ strategy: 'full-read', ways: ['full'], maxAgeMs: 1000 }),
    breakIt: () => {
      const { is } = LAST_PAGE
      LAST_PAGE.is = (rows) => rows < PAGE_ROWS
      return () => {
        LAST_PAGE.is = is
      }
    },
  },
  {
    name: 'skips the id scan of a connector, and confirms all the same',
    setting: settingOf({ strategy: 'time-delta', ways: ['full', 'since', 'ids', 'byId'], maxAgeMs: 3000 }),
    breakIt: () =>
      overrideReads(async function* skipping(read): Reading {
        const ended = yield* read
        return ended.ok ? { ...ended, confirms: true } : ended
      }),
  },
  {
    name: 'takes a read of a connector that failed for one that ended',
    setting: settingOf({ strategy: 'token-delta', ways: ['full', 'changes'], maxAgeMs: 1000, trouble: 2 }),
    breakIt: () =>
      overrideReads(async function* believing(read, { cursor }): Reading {
        const ended = yield* read
        if (ended.ok || cursor === null) return ended
        return { ok: true, cursor, complete: false, oneMoment: false, unchanged: false, asOf: null, confirms: true }
      }),
  },
]

/** Changes what the reads of all connectors give. */
function overrideReads(mutate: (read: Reading, request: ReadRequest) => Reading): () => void {
  const { prototype } = ConnectorSource
  const described = Object.getOwnPropertyDescriptor(prototype, 'read')
  const original: unknown = described?.value
  if (described === undefined || typeof original !== 'function') throw new Error('a connector has no reads')
  Object.defineProperty(prototype, 'read', {
    ...described,
    value(this: unknown, request: ReadRequest): Reading {
      return mutate(Reflect.apply(original, this, [request]) as Reading, request)
    },
  })
  return () => Object.defineProperty(prototype, 'read', described)
}
