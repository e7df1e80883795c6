import type { Observation, ReadReport } from '../../src/observe/observation.ts'

/** The end of a full read of the events that took 12.4 ms and changed nothing, but for `changes`. */
export function readEnded(changes: Partial<ReadReport>): Observation {
  return {
    kind: 'read-ended',
    read: {
      list: 'events',
      kind: 'full',
      outcome: 'ok',
      message: null,
      durationMs: 12.4,
      rows: 5,
      changed: 0,
      served: 4,
      withheld: 1,
      newlyWithheld: [],
      isAudit: false,
      servesNothing: false,
      ...changes,
    },
  }
}
