const VERSION_00 = /^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/
const LATER_VERSION = /^(?!00|ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(?:-.*)?$/

/** The trace id of a valid `traceparent`, null for any other (W3C Trace Context §3.2). */
export function traceIdOf(traceparent: string | null): string | null {
  if (traceparent === null || traceparent.length > 512) return null
  const match = VERSION_00.exec(traceparent) ?? LATER_VERSION.exec(traceparent)
  const [, traceId, parentId] = match ?? []
  if (traceId === undefined || parentId === undefined) return null
  return /[^0]/.test(traceId) && /[^0]/.test(parentId) ? traceId : null
}
