import type { ListName } from '../../domain/field.ts'
import type { Finding } from '../../sync/port.ts'
import type { Time } from '../../time/time.ts'
import { type CellObject, cellAt, plainText, shownText, sourceDigits, whereIs } from '../cells/cell.ts'
import { mappedColumns } from '../mapping/list-setting.ts'
import { pairIn, rowIn, stampText } from './list-rows.ts'
import type { RowsEnd, StreamBatch, StreamShape, Way, WayArgument } from './row-host.ts'
import type { RowStream } from './row-stream.ts'
import { farAheadLike, isNotBefore } from './stamps.ts'

const LOOKED_UP = 3
/** Up to this many differences may be changes made during the examination. */
const FEW_CHANGES = 20
/** The most rows of a way other than full, before it is known how many full returns. */
const MOST_FIRST_ROWS = 100_000
/** A way other than full may return twice as many rows as full, and this many more. */
const MOST_MORE_ROWS = 1000
const CUT = { ok: true, cursor: null } as const

/** What one read of a list brought. Two reads of a list that did not change must agree. */
class Seen {
  readonly stamps = new Map<string, string | null>()
  isCut = false
  rows = 0
  sample: CellObject[] = []
  deleted = 0
  cursor: string | null = null
}

export type ExaminedRows = Pick<RowStream, 'shape' | 'open'>

export async function examineList(
  name: ListName,
  stream: ExaminedRows,
  time: Time,
  isThorough: boolean,
): Promise<readonly Finding[]> {
  const shape = await stream.shape()
  if ('message' in shape) return [{ sentence: shape.message, losesRows: true }]
  return new Examined(name, stream, shape, time).findings(isThorough)
}

class Examined {
  readonly #name: ListName
  readonly #stream: ExaminedRows
  readonly #shape: StreamShape
  readonly #time: Time
  readonly #findings: Finding[] = []
  /** A way other than full that returns more rows is taken for endless. */
  #mostRows = MOST_FIRST_ROWS

  constructor(name: ListName, stream: ExaminedRows, shape: StreamShape, time: Time) {
    this.#name = name
    this.#stream = stream
    this.#shape = shape
    this.#time = time
  }

  async findings(isThorough: boolean): Promise<readonly Finding[]> {
    const { ways } = this.#shape
    if (ways.has('check')) await this.#ownCheck()
    const now = isThorough && ways.has('changes') ? await this.#open('changes', null) : null
    const isFirstList = this.#name === 'events'
    const first = await this.#read('full', null, isThorough ? Number.POSITIVE_INFINITY : isFirstList ? 2 : 1)
    if (first === null) return this.#findings
    if (!first.isCut) this.#mostRows = first.rows * 2 + MOST_MORE_ROWS
    this.#checkNumbers(first)
    if (isThorough || isFirstList) {
      if (ways.has('since')) await this.#checkSince(first)
      if (ways.has('byId')) await this.#checkById(first)
    }
    if (!isThorough) return this.#findings
    if (ways.has('ids')) await this.#checkIds(first)
    if (ways.has('availability')) await this.#checkAvailability()
    const cursor = first.cursor ?? now?.cursor ?? null
    if (cursor !== null && ways.has('changes')) await this.#checkChanges(cursor, first)
    else if (now !== null)
      this.#report('neither full nor changes returned a cursor, so the list is read in full', false)
    const second = await this.#read('full', null)
    if (second !== null) this.#checkSame(first, second)
    return this.#findings
  }

  #report(sentence: string, losesRows = true): void {
    this.#findings.push({ sentence: `${this.#name}: ${sentence}`, losesRows })
  }

  async #ownCheck(): Promise<void> {
    await this.#open('check', null, ({ rows }) => {
      for (const row of rows)
        if (Buffer.isBuffer(row))
          this.#findings.push({ sentence: String(JSON.parse(row.toString())), losesRows: false })
    })
  }

  /**
   * Reads the list in one way, to its end or until `onBatch` returns false. If that fails, reports a finding and returns
   * null.
   */
  async #open(
    way: Way,
    argument: WayArgument,
    onBatch: (batch: StreamBatch) => boolean | void = () => {},
  ): Promise<Extract<RowsEnd, { ok: true }> | null> {
    const rows = this.#stream.open(way, argument, new AbortController().signal)
    let came = 0
    for (;;) {
      const next = await rows.next()
      if (next.done === true) {
        if (next.value.ok) return next.value
        this.#findings.push({ sentence: `${next.value.failure.message} (${way})`, losesRows: way !== 'check' })
        return null
      }
      came += next.value.rows.length + next.value.deleted.length
      const isEndless = way !== 'full' && came > this.#mostRows
      if (isEndless) this.#report(`more than ${this.#mostRows.toLocaleString('en')} rows came: does it end? (${way})`)
      else if (onBatch(next.value) !== false) continue
      await rows.return(CUT)
      return isEndless ? null : CUT
    }
  }

  /** Reads the rows of the list in one way. If that fails, reports a finding and returns null. */
  async #read(way: Way, argument: WayArgument, mostBatches: number = Number.POSITIVE_INFINITY): Promise<Seen | null> {
    const seen = new Seen()
    const idOf = cellAt(this.#shape.fields.Id?.kind === 'column' ? this.#shape.fields.Id.column : 'Id')
    const { updatedAt } = this.#shape
    const stampOf = updatedAt === null ? null : cellAt(updatedAt)
    let count = 0
    const ended = await this.#open(way, argument, (batch) => {
      seen.deleted += batch.deleted.length
      for (const given of batch.rows) {
        seen.rows++
        const row = rowIn(given)
        if (row === null) continue
        if (seen.sample.length < 200) seen.sample.push(row)
        const id = shownText(idOf(row)) ?? ''
        if (id !== '') seen.stamps.set(id, stampOf === null ? null : stampText(stampOf(row)))
      }
      seen.isCut = ++count >= mostBatches
      return !seen.isCut
    })
    seen.cursor = ended?.cursor ?? null
    return ended === null ? null : seen
  }

  #checkNumbers({ sample }: Seen): void {
    const { fields } = this.#shape
    for (const [field, source] of Object.entries(fields)) {
      if (source?.kind !== 'column') continue
      const cell = cellAt(source.column)
      const texts = sample.map((row) => sourceDigits(cell(row))).filter((text) => text !== null)
      // No float has these digits, so the column was never converted to floats.
      if (texts.some((text) => String(Number(text)) !== text)) continue
      const odd = texts.find((text) => isFromFloat(text, field))
      if (odd === undefined) continue
      if (field === 'Id' || field === 'VenueId')
        this.#report(
          `${source.column} is the number ${odd}, which may have lost digits in a float: return ids as texts`,
        )
      else this.#report(`${source.column} is ${odd}, which went through a float: return it as a text`, false)
    }
  }

  async #checkSince(first: Seen): Promise<void> {
    const like = [...first.stamps.values()].find((stamp) => stamp !== null) ?? null
    const ahead = farAheadLike(like, this.#time.now().wallMs)
    const seen = await this.#read('since', ahead)
    const old = [...(seen?.stamps.values() ?? [])].find((stamp) => !isNotBefore(stamp, ahead))
    if (old !== undefined)
      this.#report(
        `since ${ahead} returned a row ${old === null ? 'without a time' : `of ${old}`}: the API ignores the parameter`,
      )
  }

  async #checkById(first: Seen): Promise<void> {
    const wanted = [...first.stamps.keys()].slice(0, LOOKED_UP)
    if (wanted.length === 0) return
    const seen = await this.#read('byId', [...wanted, ...unknownLike(wanted[0] ?? '')])
    if (seen === null) return
    const [lacking] = missingIn(seen.stamps, wanted)
    if (lacking !== undefined) this.#report(`byId did not return the row ${lacking.slice(0, 80)}, which full returned`)
    const more = missingIn(new Set(wanted), seen.stamps.keys())
    if (more.length > 0) this.#report(`byId returned ${more.length} rows that were not requested`, false)
  }

  async #checkIds(first: Seen): Promise<void> {
    const ids = new Set<string>()
    const ended = await this.#open('ids', null, ({ rows }) => {
      for (const given of rows) {
        const id = plainText(pairIn(given)[0] ?? null)
        if (id !== null && id !== '') ids.add(id)
      }
    })
    if (ended === null) return
    const compare = (which: string, lacking: readonly string[], of: string): void => {
      const [one] = lacking
      if (one !== undefined) this.#report(`${which} lacks ${lacking.length} of ${of}, such as ${one.slice(0, 80)}`)
    }
    compare('ids', missingIn(ids, first.stamps.keys()), `${first.stamps.size} rows of full`)
    compare('full', missingIn(first.stamps, ids), `${ids.size} rows of ids`)
  }

  async #checkAvailability(): Promise<void> {
    const { Id = null, TicketCapacity = null, TicketsAvailable = null } = this.#shape.fields
    const counted = { fields: { Id, TicketCapacity, TicketsAvailable }, active: null, showOnWeb: null }
    const { sample = [] } = (await this.#read('availability', null)) ?? {}
    const columns = new Set(mappedColumns(counted).map(({ column }) => column))
    const lacking = [...columns].filter((column) => sample.every((row) => whereIs(row, column) === 'nowhere'))
    if (sample.length > 0 && lacking.length > 0) this.#report(`no row of availability has ${lacking.join(', ')}`)
  }

  async #checkChanges(cursor: string, first: Seen): Promise<void> {
    const seen = await this.#read('changes', cursor)
    if (seen === null) return
    const changed = seen.rows + seen.deleted
    if (changed > FEW_CHANGES && changed * 2 > first.rows)
      this.#report(
        `changes returned ${changed} rows right after full returned ${first.rows}: does it use its cursor?`,
        false,
      )
  }

  #checkSame(first: Seen, second: Seen): void {
    const lost = [...missingIn(second.stamps, first.stamps.keys()), ...missingIn(first.stamps, second.stamps.keys())]
    const [one] = lost
    if (one === undefined) return
    const sentence = `two full reads in a row returned different rows: only one has ${one.slice(0, 80)}`
    this.#report(`${sentence}. Do pages have an order?`)
  }
}

function missingIn(ids: { has(id: string): boolean }, wanted: Iterable<string>): readonly string[] {
  return [...wanted].filter((id) => !ids.has(id))
}

/** Returns an id that no row has, in the same form as a given one: some APIs refuse other forms. */
function unknownLike(id: string): readonly string[] {
  if (/^\d{1,9}$/.test(id)) return ['2147483646']
  return /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(id) ? [`${id.slice(0, -4)}dead`] : []
}

function isFromFloat(text: string, field: string): boolean {
  const digits = text.replace(/[^\d]/g, '').replace(/^0+/, '')
  if (field === 'Id' || field === 'VenueId') return /[.eE]/.test(text) || digits.length > 15
  return text.includes('.') && digits.length > 15 && /0000|9999/.test(text)
}
