// Where the CRMs are: one folder each, and `mapping/` and `web/`, which they share. What each must give the replica is the port
// (replica/port.ts): a source for each list, which reads pages of changes. Begin with files/, the simplest.

import type { CrmSettings } from '../config/configuration.ts'
import type { ListName } from '../domain/field.ts'
import type { Zone } from '../domain/zone.ts'
import type { Observe, Outcome } from '../observe/observation.ts'
import type { Crm, Cursor, Examination, PageStream, ReadRequest, Source } from '../replica/port.ts'
import type { Time } from '../replica/time.ts'
import type { CrmLimits } from './crm-limits.ts'
import { limitsOf } from './crm-limits.ts'
import type { Descriptors } from './descriptors.ts'
import type { ListSuspicions } from './mapping/suspicions.ts'
import type { OpenWeb } from './web/web.ts'

export interface CrmSurroundings {
  /** What Start and Finish are shown in. */
  readonly showIn: Zone
  /** What a reload may change: read anew for each exchange. */
  readonly limits: CrmLimits
  /** Loads how the runtime speaks HTTP, which not every CRM needs. */
  readonly loadWeb: () => Promise<OpenWeb>
  readonly env: Readonly<Record<string, string | undefined>>
  readonly time: Time
  readonly observe: Observe
  readonly descriptors?: Descriptors
  /** Where what is suspicious in the rows is noted. */
  readonly suspicions?: ListSuspicions
}

type Kind = CrmSettings['kind']

type Openers = {
  readonly [Name in Kind]: (
    settings: Extract<CrmSettings, { kind: Name }>,
    surroundings: CrmSurroundings,
  ) => Promise<Crm>
}

/** The connectors, loaded when theirs is the CRM: a start pays for no driver but its own. A new CRM is a folder beside this file and an entry here. */
const OPENERS: Openers = {
  async dataverse(settings, { loadWeb, limits, ...surroundings }) {
    const { openDataverseCrm } = await import('./dataverse/dataverse-crm.ts')
    const openWeb = await loadWeb()
    return openDataverseCrm(settings, { ...surroundings, openWeb, limits: limitsOf(settings, limits) })
  },
  async files(settings, { limits, ...surroundings }) {
    const { openFilesCrm } = await import('./files/files-crm.ts')
    return openFilesCrm(settings, { ...surroundings, limits })
  },
  async postgres(settings, { limits, ...surroundings }) {
    const { openPostgresCrm } = await import('./postgres/postgres-crm.ts')
    return openPostgresCrm(settings, { ...surroundings, limits: limitsOf(settings, limits) })
  },
}

/** The connector of a CRM. */
export async function openCrm(settings: CrmSettings, surroundings: CrmSurroundings): Promise<Crm> {
  const crm = await open(settings.kind, settings, surroundings)
  const { observe } = surroundings
  // It counts its requests itself: a read of a list is many.
  if (settings.kind === 'dataverse') return crm
  const [events, venues] = [countReads(crm.events, observe), countReads(crm.venues, observe)]
  return {
    events,
    venues,
    ...(crm.examine === undefined ? {} : { examine: () => examine(crm) }),
    ...(crm.diagnose === undefined ? {} : { diagnose: async (list: ListName) => (await crm.diagnose?.(list)) ?? null }),
    close: () => crm.close(),
  }
}

function open<Name extends Kind>(
  kind: Name,
  settings: Extract<CrmSettings, { kind: Name }>,
  surroundings: CrmSurroundings,
): Promise<Crm> {
  return OPENERS[kind](settings, surroundings)
}

async function examine(crm: Crm): Promise<Examination> {
  return (await crm.examine?.()) ?? { problems: [], warnings: [] }
}

/** The source, each of whose reads is told as one exchange with the CRM. */
function countReads<Item>(source: Source<Item>, observe: Observe): Source<Item> {
  const { reportsChanges, availabilityEveryMs, repeatedId } = source
  return {
    reportsChanges,
    availabilityEveryMs,
    repeatedId,
    get patienceMs() {
      return source.patienceMs
    },
    ...(source.onHint === undefined
      ? {}
      : { onHint: (callback: () => void) => source.onHint?.(callback) ?? (() => {}) }),
    ...(source.travels === undefined ? {} : { travels: (cursor: Cursor) => source.travels?.(cursor) ?? false }),
    ...(source.hasChanged === undefined ? {} : { hasChanged: async () => (await source.hasChanged?.()) ?? false }),
    async *read(request: ReadRequest): PageStream<Item> {
      // A read that took too long is abandoned, and then never returns.
      let outcome: Outcome = 'timeout'
      try {
        const ended = yield* source.read(request)
        outcome = ended.ok ? 'ok' : ended.failure.kind
        return ended
      } finally {
        observe({ kind: 'crm-request', outcome })
      }
    },
  }
}
