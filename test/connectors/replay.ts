import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openCrm } from '../../src/crm/open-crm.ts'
import { renderProblem } from '../../src/config/config-problem.ts'
import { loadConfiguration } from '../../src/config/read-configuration.ts'
import { openHttpClient } from '../../src/runtime/outgoing.ts'
import type { Change, Crm, Cursor, ReadKind, ListSource } from '../../src/sync/port.ts'
import type { Observation } from '../../src/observe/observation.ts'
import { systemTime } from '../../src/time/time.ts'
import { type Answer, type Asked, JsonServer } from './json-server.ts'

/** One request that a CRM was once asked, and its answer. */
export interface Exchange extends Answer {
  /** The method, the path, and the query or the body, both sorted by name, as `keyOfRequest` writes them. */
  readonly asked: string
}

/** A server that knows only the recorded requests; anything else is a 500. */
export interface Replay {
  readonly origin: string
  /** The requests that nobody recorded. */
  readonly unknown: string[]
  readonly server: JsonServer
  exchanges: readonly Exchange[]
}

export async function replay(exchanges: readonly Exchange[]): Promise<Replay> {
  const server = await JsonServer.open((asked) => {
    const key = keyOfRequest(asked)
    const known = replayed.exchanges.find((one) => one.asked === key)
    if (known !== undefined) return known
    replayed.unknown.push(key)
    return { status: 500, json: { name: 'unknown request' } }
  })
  const replayed: Replay = { origin: server.url, unknown: [], server, exchanges }
  return replayed
}

function keyOfRequest({ method, path, query, body }: Pick<Asked, 'method' | 'path' | 'query' | 'body'>): string {
  const sorted = Object.fromEntries([...query].toSorted(([left], [right]) => (left < right ? -1 : 1)))
  const about = body === null ? sorted : body
  return `${method} ${path} ${JSON.stringify(about)}`
}

export function recorded(name: string): unknown {
  return JSON.parse(readFileSync(join(import.meta.dirname, name), 'utf8'))
}

/** Opens the CRM of a configuration in YAML. */
export async function openConfigured(
  text: string,
  env: Readonly<Record<string, string>>,
  readFile: (path: string) => Promise<Uint8Array> = () => Promise.reject(new Error('no file is read')),
  observe: (seen: Observation) => void = () => {},
): Promise<Crm> {
  const loaded = await loadConfiguration({ path: '/tmp/m.yaml', text, env, readFile })
  if (!loaded.ok) throw new Error(loaded.problems.map(renderProblem).join('\n'))
  const { crm, timeZone, representation } = loaded.configuration
  return openCrm(crm, {
    further: representation.further,
    showIn: timeZone,
    limits: () => ({ requestTimeoutMs: crm.requestTimeoutMs ?? 30_000, maxAgeMs: 30_000 }),
    time: systemTime,
    observe,
    env: {},
    loadWeb: async () => (options) => openHttpClient(options),
  })
}

export interface ListRead<Item> {
  readonly failure: string
  readonly records: readonly Item[]
  readonly changes: readonly Change<Item>[]
  readonly cursor: Cursor | null
}

/** Reads a list once, in full or by its changes. */
export async function readList<Item>(
  source: ListSource<Item>,
  kind: ReadKind = 'full',
  cursor: Cursor | null = null,
  signal: AbortSignal = new AbortController().signal,
): Promise<ListRead<Item>> {
  const held = { size: 0, version: () => Number.NaN }
  const changes: Change<Item>[] = []
  const reading = source.read({ kind, cursor, held, served: null, signal })
  for (;;) {
    const next = await reading.next()
    if (next.done !== true) {
      changes.push(...next.value.changes)
      continue
    }
    const failure = next.value.ok ? '' : `${next.value.failure.kind}: ${next.value.failure.message}`
    const { ok } = next.value
    return {
      failure,
      changes,
      cursor: ok ? next.value.cursor : null,
      records: changes.flatMap((change) => (change.kind === 'record' ? [change.record] : [])),
    }
  }
}
