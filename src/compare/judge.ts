import { Buffer } from 'node:buffer'
import { utf8TextOf } from '../crm/web/http-client.ts'
import {
  type Class,
  type Difference,
  type NameDeparture,
  type ValuePair,
  CLASSES,
  LONGEST_SHOWN,
  SAME,
  rowsOf,
} from './difference.ts'
import type { Question } from './questions.ts'
import type { Reply } from './remote-service.ts'
import { type Leaf, type ParsedBody, type BodyTree, parseJson, parseXml, withCarried } from './body-tree.ts'

export interface Judgement {
  readonly class: Class
  readonly findings: readonly Difference[]
  /** Both answers side by side. */
  readonly rows: readonly ValuePair[]
}

/** The departures of contract §3.3, by the names that reports use. */
const DEPARTURES = {
  problem: 'errors are problem details',
  head: 'HEAD is allowed',
  zeroQuality: 'q=0 excludes a type',
  mark: 'HAL XML without a byte order mark',
  charset: 'HAL XML with a charset',
  root: 'HAL XML links begin with / instead of ~/',
  title: 'HAL XML links have their title',
  nullElement: 'HAL XML has null fields, empty',
  nullMember: 'HAL JSON has null fields',
  carried: 'characters that XML cannot carry are replaced',
  carriageReturn: 'CR is kept in XML',
} as const

/** Compares both answers to one question. */
export function judge(question: Question, old: Reply, fresh: Reply): Judgement {
  const status = { at: 'status', old: statusText(old), new: statusText(fresh) }
  const rows: ValuePair[] = []
  if (status.old === status.new) {
    rows.push({ ...status, ...SAME }, ...fieldRows(question, old, fresh))
    const isProblem = rows.some(({ what }) => what === DEPARTURES.problem)
    const isComparable = question.method === 'GET' && family(old) === family(fresh) && !isProblem
    if (isComparable) rows.push(...bodyRows(old, fresh))
  } else rows.push({ ...status, ...statusFound(question, old, fresh) })
  const found = new Map<string, Difference>()
  for (const { what, ...row } of rows) {
    const key = `${row.class} ${what} ${row.at}`
    if (what !== null && !found.has(key)) found.set(key, { ...row, what })
  }
  const findings = [...found.values()]
  return { class: worstOf(findings), findings, rows }
}

export function worstOf(findings: readonly Difference[]): Class {
  return CLASSES.findLast((name) => findings.some((finding) => finding.class === name)) ?? 'sameBytes'
}

/** Describes a status; for a redirect also where it leads, without the query, which may hold a token. */
function statusText({ status, problem, headers: { location } }: Reply): string {
  if (status === 0) return problem ?? 'no answer'
  return location === undefined ? String(status) : `${status} to ${location.replace(/[?#].*$/, '')}`
}

function statusFound({ method, accept }: Question, old: Reply, fresh: Reply): { class: Class; what: string } {
  if (method === 'HEAD' && [405, 501].includes(old.status) && [200, 400, 404].includes(fresh.status))
    return intended('head')
  // The reference fails to write such a record as XML.
  const isXml = family(fresh) === 'xml' && accept.includes('xml')
  if (isXml && fresh.status === 200 && old.status === 500 && utf8TextOf(fresh.body)?.includes('\ufffd') === true)
    return intended('carried')
  if (old.status === 0) return { class: 'different', what: 'no answer of the old service' }
  if (fresh.status === 0) return { class: 'different', what: 'no answer here' }
  const isRedirect = old.status >= 300 && old.status < 400
  // Each pair is a kind of its own: an event that only one service shows is not the same as one that only the other shows.
  return { class: 'different', what: isRedirect ? 'a redirect' : `another status: ${old.status}, here ${fresh.status}` }
}

function intended(name: keyof typeof DEPARTURES): { class: 'intended'; what: string } {
  return { class: 'intended', what: DEPARTURES[name] }
}

/** Compares the media type, its charset, and whether there is an ETag. */
function fieldRows({ accept }: Question, old: Reply, fresh: Reply): readonly ValuePair[] {
  const [was, is] = [typeOf(old), typeOf(fresh)]
  const at = 'Content-Type'
  const texts = { old: old.headers['content-type'] ?? null, new: fresh.headers['content-type'] ?? null }
  const row = (found: { class: Class; what: string | null }): ValuePair => ({ at, ...texts, ...found })
  if (old.status >= 400 && is.type.startsWith('application/problem+') && was.type !== is.type)
    return [row(intended('problem'))]
  const rows: ValuePair[] = []
  if (was.type !== is.type) {
    const isExcluded = excludes(accept, was.type) && !excludes(accept, is.type)
    rows.push(row(isExcluded ? intended('zeroQuality') : { class: 'different', what: 'another media type' }))
  } else if (was.charset !== is.charset) {
    const isHalXml = was.charset === '' && is.type === 'application/hal+xml'
    const what = was.charset === '' || is.charset === '' ? 'charset missing' : 'another charset'
    rows.push(row(isHalXml ? intended('charset') : { class: 'different', what }))
  } else rows.push(row(SAME))
  const [oldTag = null, newTag = null] = [old.headers['etag'], fresh.headers['etag']]
  if (old.status === 200 && (oldTag === null) !== (newTag === null)) {
    rows.push({ class: 'different', what: 'missing ETag', at: 'ETag', old: oldTag, new: newTag })
  }
  return rows
}

function typeOf({ headers }: Reply): { readonly type: string; readonly charset: string } {
  const [type = '', ...parameters] = (headers['content-type'] ?? '').toLowerCase().split(';')
  const charset = parameters
    .map((text) => /^\s*charset\s*=\s*"?([^"\s]*)/.exec(text)?.[1] ?? '')
    .find((name) => name !== '')
  return { type: type.trim(), charset: charset ?? '' }
}

function family(reply: Reply): string {
  const { type } = typeOf(reply)
  return type.endsWith('json') ? 'json' : type.endsWith('xml') ? 'xml' : type
}

/** Whether the most specific range of an `Accept` that matches a type has q=0. */
function excludes(accept: string, type: string): boolean {
  const ranges = accept.toLowerCase().split(',')
  const parsedRanges = ranges.map((range) => range.split(';').map((part) => part.trim()))
  const most = [type, `${type.split('/')[0]}/*`, '*/*']
    .map((name) => parsedRanges.find(([range]) => range === name))
    .find((range) => range !== undefined)
  return most?.some((part) => /^q=0(?:\.0*)?$/.test(part)) ?? false
}

const A_MARK = 'byte order mark'

function hasMark(body: Uint8Array): boolean {
  return body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf
}

function bodyRows(old: Reply, fresh: Reply): readonly ValuePair[] {
  if (Buffer.compare(old.body, fresh.body) === 0) return []
  const { type } = typeOf(fresh)
  const rows: ValuePair[] = []
  const whole = (found: { class: Class; what: string }, was: string | null, is: string | null): void => {
    rows.push({ ...found, at: '/', old: was, new: is })
  }
  if (hasMark(old.body) !== hasMark(fresh.body)) {
    const isHalXml = hasMark(old.body) && type === 'application/hal+xml'
    const [was, is] = hasMark(old.body) ? [A_MARK, null] : [null, A_MARK]
    whole(isHalXml ? intended('mark') : { class: 'different', what: A_MARK }, was, is)
  }
  const [was, is] = [utf8TextOf(old.body), utf8TextOf(fresh.body)]
  if (was === null || is === null) {
    whole({ class: 'different', what: 'not UTF-8' }, was, is)
    return rows
  }
  const format = family(fresh)
  const parse = format === 'json' ? parseJson : format === 'xml' ? parseXml : null
  const [one, other] = [parse?.(was), parse?.(is)]
  if (one === undefined || other === undefined || !('tree' in other)) {
    if (was !== is)
      whole({ class: 'different', what: 'another body' }, was.slice(0, LONGEST_SHOWN), is.slice(0, LONGEST_SHOWN))
    return rows
  }
  const read = 'problem' in one && format === 'xml' ? parseXml(withCarried(was)) : one
  if (!('tree' in read)) {
    whole({ class: 'different', what: read.problem }, was.slice(0, LONGEST_SHOWN), is.slice(0, LONGEST_SHOWN))
    return rows
  }
  if (read !== one) whole(intended('carried'), was.slice(0, LONGEST_SHOWN), is.slice(0, LONGEST_SHOWN))
  const values = rowsOf(read.tree, other.tree, departures(type))
  rows.push(...values)
  if ((read === one ? was : withCarried(was)) !== is) rows.push(...formRows(read, other, values))
  return rows
}

/** Names the ways in which two bodies of the same values are written differently. */
function formRows(old: ParsedBody, fresh: ParsedBody, values: readonly ValuePair[]): readonly ValuePair[] {
  if (!('forms' in old && 'forms' in fresh)) return []
  // Escapes and prefixes of other values say nothing.
  const isSame = values.every(({ what, class: kind }) => what === null || kind === 'sameMeaning')
  const kinds = Object.keys(fresh.forms).filter((kind) => old.forms[kind] !== fresh.forms[kind])
  const named = isSame ? kinds : kinds.filter((kind) => OF_ANY_VALUES.has(kind))
  if (named.length === 0 && values.every(({ what }) => what === null)) named.push('white space')
  return named.map((what) => ({ class: 'sameMeaning', what, at: '/', old: null, new: null }))
}

const OF_ANY_VALUES: ReadonlySet<string> = new Set(['white space', 'XML declaration', 'comments'])

/** Returns the departures that a difference between values can come from, for a media type. */
function departures(type: string): NameDeparture {
  if (type === 'application/hal+json') {
    return (at, old, fresh) => (old === null && fresh?.kind === 'null' && isField(at) ? DEPARTURES.nullMember : null)
  }
  if (!type.endsWith('xml')) return () => null
  return (at, old, fresh) => {
    if (type === 'application/hal+xml') {
      if (old === null && isLeaf(fresh) && fresh.text === '' && isField(at)) return DEPARTURES.nullElement
      if (old === null && /^\/link(?:\/\d+)?\/@title$/.test(at)) return DEPARTURES.title
      const isRooted = isLeaf(old) && isLeaf(fresh) && old.text.startsWith('~/') && fresh.text.startsWith('/')
      if (isRooted && at.endsWith('/@href') && fresh.text.endsWith(old.text.slice(1))) return DEPARTURES.root
    }
    const isFolded =
      isLeaf(old) && isLeaf(fresh) && fresh.text.includes('\r') && folded(old.text, at) === folded(fresh.text, at)
    return isFolded ? DEPARTURES.carriageReturn : null
  }
}

/** Whether a path is that of a record's own field. */
function isField(at: string): boolean {
  return /^\/[A-Z]\w*$/.test(at)
}

function isLeaf(tree: BodyTree | null): tree is Leaf {
  return tree !== null && 'text' in tree
}

/** The text as a parser gives it if its line ends were written as they are. */
function folded(text: string, at: string): string {
  return text.replaceAll(/\r\n?|\n/g, at.includes('@') ? ' ' : '\n')
}
