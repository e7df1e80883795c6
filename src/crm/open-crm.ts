// Where the CRMs are: one folder each, and `mapping/` and `web/`, which they share. What each must give the replica is the port
// (replica/port.ts): a source for each list, which reads pages of changes. Begin with files/, the simplest.

import type { CrmSettings } from '../config/configuration.ts'
import type { Zone } from '../domain/zone.ts'
import type { Observe, Outcome } from '../observe/observation.ts'
import type { Crm, Examination, PageStream, ReadRequest, Source } from '../replica/port.ts'
import type { Time } from '../replica/time.ts'
import type { Descriptors } from './descriptors.ts'
import type { OpenWeb } from './web/web.ts'

export interface CrmSurroundings {
  /** What Start and Finish are shown in. */
  readonly showIn: Zone
  /** The longest one exchange with the CRM may take, where its own settings say nothing else. */
  readonly requestTimeoutMs: number
  readonly boundMs: number
  /** Loads how the runtime speaks HTTP, which not every CRM needs. */
  readonly loadWeb: () => Promise<OpenWeb>
  readonly env: Readonly<Record<string, string | undefined>>
  readonly time: Time
  readonly observe: Observe
  readonly descriptors?: Descriptors
  readonly memoryLimitBytes?: number
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
  async dataverse(settings, { loadWeb, ...surroundings }) {
    const { openDataverseCrm } = await import('./dataverse/dataverse-crm.ts')
    return openDataverseCrm(settings, {
      ...surroundings,
      openWeb: await loadWeb(),
      requestTimeoutMs: settings.requestTimeoutMs ?? surroundings.requestTimeoutMs,
    })
  },
  async files(settings, { requestTimeoutMs, ...surroundings }) {
    const { openFilesCrm } = await import('./files/files-crm.ts')
    return openFilesCrm(settings, { ...surroundings, patienceMs: patienceOf(requestTimeoutMs) })
  },
  async postgres(settings, surroundings) {
    const { openPostgresCrm } = await import('./postgres/postgres-crm.ts')
    const requestTimeoutMs = settings.requestTimeoutMs ?? surroundings.requestTimeoutMs
    return openPostgresCrm(settings, { ...surroundings, requestTimeoutMs, patienceMs: patienceOf(requestTimeoutMs) })
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

/** An exchange is tried once more on a fresh connection before a page is given up. */
function patienceOf(requestTimeoutMs: number): number {
  return requestTimeoutMs * 2 + 1000
}

/** The source, each of whose reads is told as one exchange with the CRM. */
function countReads<Item>(source: Source<Item>, observe: Observe): Source<Item> {
  const { reportsChanges, availabilityEveryMs, repeatedId, patienceMs } = source
  return {
    reportsChanges,
    availabilityEveryMs,
    repeatedId,
    patienceMs,
    ...(source.onHint === undefined ? {} : { onHint: (callback: () => void) => source.onHint?.(callback) }),
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
