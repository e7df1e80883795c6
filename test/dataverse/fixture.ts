import { afterEach, beforeEach, expect } from 'bun:test'
import type { EventRecord } from '../../src/domain/event.ts'
import { parseGuid } from '../../src/domain/guid.ts'
import type { Moment, Time } from '../../src/time/time.ts'
import { systemTime } from '../../src/time/time.ts'
import type { Environment } from './environment.ts'
import { idOf, openEnvironment } from './environment.ts'
import type { Rig, RigOptions } from './rig.ts'
import { rigOf } from './rig.ts'
import type { StandIn } from './stand-in.ts'
import type { StandInTable } from './stand-in-table.ts'

/**
 * An environment for each test of a file, a clock that a test can put forward, and what reads by it; all closed after
 * the test.
 */
export class Fixture implements Environment {
  aheadMs = 0
  /** Where the clock stands still; `null` if it goes. A test that counts looks in a time sets it. */
  stoppedAt: Moment | null = null
  readonly time: Time = { ...systemTime, now: () => this.#now() }
  readonly #rigs: Rig[] = []
  #environment: Environment | null = null

  constructor() {
    beforeEach(async () => {
      this.aheadMs = 0
      this.stoppedAt = null
      this.#environment = await openEnvironment()
    })
    afterEach(async () => {
      for (const rig of this.#rigs.splice(0)) await rig.crm.close()
      this.standIn.close()
    })
  }

  get standIn(): StandIn {
    return this.#open.standIn
  }

  get events(): StandInTable {
    return this.#open.events
  }

  get venues(): StandInTable {
    return this.#open.venues
  }

  /** A connector and a replica before it. */
  async rig(options: RigOptions = {}): Promise<Rig> {
    const rig = await rigOf(this.standIn, { time: this.time, ...options })
    this.#rigs.push(rig)
    return rig
  }

  get #open(): Environment {
    if (this.#environment === null) throw new Error('an environment is there only within a test')
    return this.#environment
  }

  #now(): Moment {
    const { monotonicMs, wallMs } = this.stoppedAt ?? systemTime.now()
    return { monotonicMs: monotonicMs + this.aheadMs, wallMs: wallMs + this.aheadMs }
  }
}

/** Reads both lists, which must succeed. */
export async function load({ replica }: Rig): Promise<void> {
  expect(await replica.venues.refresh.attempt()).toEqual({ ok: true })
  expect(await replica.events.refresh.attempt()).toEqual({ ok: true })
}

/** The event of a number as it is held. */
export function eventIn({ replica }: Rig, number: number): EventRecord | null {
  const id = parseGuid(idOf(number))
  return id === null ? null : replica.events.list.get(id)
}
