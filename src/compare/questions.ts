// What both services are asked. In: ids, or an access log. Out: questions, each once, with the number of requests that
// each stands for.
import { parseGuid } from '../domain/guid.ts'
import { percentEncode } from '../domain/field.ts'
import { sha1 } from '../domain/sha1.ts'

export interface Question {
  readonly method: 'GET' | 'HEAD'
  /** The path below the base path, spelt as it was found. */
  readonly path: string
  readonly accept: string
  /** The number of requests in the log. */
  readonly weight: number
}

const ENDPOINTS = ['/api/events/{id}', '/api/events/{id}/venue', '/api/venues/{id}'] as const

const MALFORMED = ['x', 'null', '00000000-0000-0000-0000-000000000000', '{0123456789abcdef0123456789abcdef}'] as const
const UNKNOWN = 2

/** Returns an id as a part of a path. What a path can carry stays as it is spelt. */
function pathPart(id: string): string {
  return /^[\w!$&'()*+,;=:@.~{}%-]+$/.test(id) && !/^\.{1,2}$/.test(id) ? id : percentEncode(id)
}

function* pathsOf(ids: Iterable<string>): Generator<string, void, void> {
  for (const id of ids) for (const endpoint of ENDPOINTS) yield endpoint.replace('{id}', () => pathPart(id))
}

/** Questions about ids: all endpoints in each type, then ids that are unknown, malformed, or spelt in other ways. */
export class IdQuestions implements Iterable<Question> {
  readonly #ids: readonly string[]
  readonly #types: readonly string[]
  readonly #seed: number

  /** @param seed decides the order, and the unknown ids */
  constructor(ids: Iterable<string>, types: readonly string[], seed: number) {
    const keyed = Array.from(new Set(ids), (id) => [sha1(`${seed} ${id}`), id] as const)
    this.#ids = keyed.toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, id]) => id)
    this.#types = types
    this.#seed = seed
  }

  /** The number of questions; 0 if there are no ids. */
  get length(): number {
    if (this.#ids.length === 0) return 0
    const ids = this.#ids.length + UNKNOWN + MALFORMED.length
    return (ids * ENDPOINTS.length + this.#spellings().length) * this.#types.length + this.#heads().length
  }

  *[Symbol.iterator](): Generator<Question, void, void> {
    const strangers = Array.from({ length: UNKNOWN }, (_, index) => unknownId(`${this.#seed} ${index}`))
    for (const path of [...pathsOf([...strangers, ...MALFORMED]), ...this.#spellings()]) yield* this.#each(path)
    for (const path of this.#heads()) yield { method: 'HEAD', path, accept: this.#types[0] ?? '*/*', weight: 1 }
    for (const path of pathsOf(this.#ids)) yield* this.#each(path)
  }

  *#each(path: string): Generator<Question, void, void> {
    for (const accept of this.#types) yield { method: 'GET', path, accept, weight: 1 }
  }

  /** One id in the other spellings that .NET reads, and the paths that links have. */
  #spellings(): readonly string[] {
    const id = this.#ids.map(parseGuid).find((guid) => guid !== null) ?? null
    if (id === null) return []
    const digits = id.replaceAll('-', '')
    const ids = [id.toUpperCase(), `{${id}}`, `(${id})`, digits, `${id}/`, `%7B${id}%7D`]
    return [
      ...ids.map((spelt) => `/api/events/${spelt}`),
      ...ENDPOINTS.map((path) => path.slice(4).replace('{id}', id)),
    ]
  }

  #heads(): readonly string[] {
    const [id] = this.#ids
    return id === undefined ? [] : ENDPOINTS.map((path) => path.replace('{id}', () => pathPart(id)))
  }
}

function unknownId(text: string): string {
  const [, ...parts] = /^(.{8})(.{4})(.{3})(.{3})(.{12})/.exec(sha1(text)) ?? []
  const [a = '', b = '', c = '', d = '', e = ''] = parts
  return `${a}-${b}-4${c}-a${d}-${e}`
}

/** A path of a record. An id of dots would leave the folder. */
const RECORD_PATH = /^(?:\/api)?\/(events|venues)(\/(?!(?:\.|%2e){1,2}(?:\/|$))[^/]*)?(\/venue)?\/?$/i

/** Returns the endpoint of a path; `null` if it belongs to none. */
export function endpointOf(path: string): string | null {
  const [, list, , venue] = RECORD_PATH.exec(path) ?? []
  if (list === undefined) return null
  if (list.toLowerCase() === 'events') return venue === undefined ? ENDPOINTS[0] : ENDPOINTS[1]
  return venue === undefined ? ENDPOINTS[2] : null
}
