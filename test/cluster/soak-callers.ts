import type { Chance } from '../model/chance.ts'
import type { RowHistory } from '../support/row-history.ts'
import { ANSWERED_BY } from './nginx.ts'

/** How long a caller waits at the most. */
const PATIENCE_MS = 30_000
/** Sentences about answers that must not have been. */
const MOST_TOLD = 20

/** A request, and what came of it. */
export interface Asked {
  readonly sentMs: number
  readonly endMs: number
  /** 0 where nothing came. */
  readonly status: number
  /** Of the instances that were asked, the one that answered last. */
  readonly by: string
}

export interface SoakCallersOptions {
  /** Of one instance, or of what stands in front of several and says who answered. */
  readonly address: string
  readonly history: RowHistory
  readonly ids: readonly string[]
  readonly maxAgeMs: number
  readonly chance: Chance
  readonly everyMs: number
  /** The processes that live now, by their ports. */
  readonly processes: () => ReadonlyMap<string, string>
}

/** Callers who ask at even distances, answered or not, and hold each answer against what the rows were. */
export class SoakCallers {
  readonly asked: Asked[] = []
  readonly wrong: string[] = []
  wrongs = 0
  /** A caller had already been shown something newer, by another process. */
  behindOthers = 0
  readonly #options: SoakCallersOptions
  readonly #newest = new Map<string, number>()
  readonly #running: Promise<unknown>
  #isOver = false

  constructor(options: SoakCallersOptions) {
    this.#options = options
    this.#running = this.#pace()
  }

  /** Resolves when all that was asked has ended. */
  async end(): Promise<void> {
    this.#isOver = true
    await this.#running
  }

  async #pace(): Promise<void> {
    const { everyMs, chance, ids } = this.#options
    const open = new Set<Promise<void>>()
    for (let dueMs = performance.now(); !this.#isOver; dueMs += everyMs) {
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, dueMs - performance.now())))
      const one = this.#ask(chance.pick(ids)).finally(() => open.delete(one))
      open.add(one)
    }
    await Promise.all(open)
  }

  async #ask(id: string): Promise<void> {
    const { address, history, processes } = this.#options
    const sentMs = performance.now()
    const before = new Map([...processes()].map(([port, name]) => [port, { name, shown: history.shown(id, name) }]))
    const newest = this.#newest.get(id) ?? 0
    const answer = await answerTo(`${address}api/events/${id}`)
    this.asked.push({ sentMs, endMs: performance.now(), status: answer.status, by: answer.by })
    const sender = before.get(answer.port)
    // Of a process that was killed meanwhile nobody knows whether it was that one or the next.
    const by = sender?.name === processes().get(answer.port) ? sender : undefined
    const problem = this.#problemOf(answer, id, sentMs, by)
    if (problem !== null && ++this.wrongs <= MOST_TOLD)
      this.wrong.push(`${new Date().toISOString()} ${by?.name ?? answer.port}: ${problem}`)
    const number = Number(/ as of (\d+)$/.exec(answer.name ?? '')?.[1] ?? newest)
    if (number < newest) this.behindOthers++
    this.#newest.set(id, Math.max(number, this.#newest.get(id) ?? 0))
  }

  #problemOf(
    { status, ageS, name }: Answer,
    id: string,
    sentMs: number,
    by: { readonly name: string; readonly shown: number } | undefined,
  ): string | null {
    const { history, maxAgeMs } = this.#options
    // Nothing, or what a proxy says where nobody answers it.
    if (status === 0 || status === 502 || status === 504) return null
    if (status !== 200 && status !== 404) return `status ${status}`
    if (status === 200 && (ageS === null || ageS * 1000 > maxAgeMs)) return `Age ${ageS}`
    // Where it says how old it is, that is true.
    const sinceMs = sentMs - (ageS === null ? maxAgeMs : ageS * 1000)
    const seen = { id, atMs: sinceMs, value: name }
    return by === undefined ? history.check(seen, 'nobody', 0) : history.check(seen, by.name, by.shown)
  }
}

interface Answer {
  readonly status: number
  readonly ageS: number | null
  readonly name: string | null
  /** Of who answered. */
  readonly port: string
  readonly by: string
}

async function answerTo(url: string): Promise<Answer> {
  const own = new URL(url).port
  try {
    const response = await fetch(url, {
      headers: { accept: 'application/json' },
      signal: AbortSignal.timeout(PATIENCE_MS),
    })
    const text = await response.text()
    const { status, headers } = response
    const age = headers.get('age')
    const by = headers.get(ANSWERED_BY) ?? own
    return {
      status,
      ageS: age === null ? null : Number(age),
      name: status === 200 ? (JSON.parse(text) as { readonly Name: string }).Name : null,
      // One that was asked in vain stands before it.
      port: /(\d+)$/.exec(by)?.[1] ?? own,
      by,
    }
  } catch {
    return { status: 0, ageS: null, name: null, port: own, by: own }
  }
}
