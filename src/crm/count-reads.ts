import type { Observe, Outcome } from '../observe/observation.ts'
import type { Page, ReadOutcome, ReadRequest, Source } from '../replica/port.ts'

/** The source, each of whose reads is told as one exchange with the CRM. */
export function countReads<Item>(source: Source<Item>, observe: Observe): Source<Item> {
  const { reportsChanges, availabilityEveryMs, repeatedId, patienceMs } = source
  return {
    reportsChanges,
    availabilityEveryMs,
    repeatedId,
    patienceMs,
    get heldBytes() {
      return source.heldBytes ?? 0
    },
    ...(source.onHint === undefined ? {} : { onHint: (callback: () => void) => source.onHint?.(callback) }),
    ...(source.hasChanged === undefined ? {} : { hasChanged: async () => (await source.hasChanged?.()) ?? false }),
    async *read(request: ReadRequest): AsyncGenerator<Page<Item>, ReadOutcome, void> {
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
