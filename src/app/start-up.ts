import { ownCode } from '../config/configuration.ts'
import { howMany, printable, spanText } from '../domain/printable.ts'
import { ZONE_DATA_VERSION } from '../domain/zone-data.ts'
import { systemTime } from '../time/time.ts'
import type { Marquee } from './assemble.ts'
import type { Running } from './operations.ts'
import { type CommandContext, commandLine, runtimeName, VERSION } from './command-context.ts'

interface StartUp extends Pick<Running, 'from' | 'marquee' | 'address'> {
  readonly operations: string | null
  /** When listening began or the first log line was written, whichever was earlier, wall ms. */
  readonly atMs: number
  readonly option: string | undefined
}

/** Prints the addresses and what to try: a few lines on a terminal, otherwise one JSON line. */
export function startUp({ from, marquee, address, operations, atMs, option }: StartUp, context: CommandContext): void {
  const { isTerminal, env, out } = context
  const { configuration } = marquee.current
  const { basePath } = configuration.listen
  const { staleIfErrorMs } = configuration.freshness
  const id = firstId(marquee)
  const link = id === null ? null : `${address}${basePath === '/' ? '' : basePath}/api/events/${id}`
  if (!isTerminal) {
    const connector = ownCode(configuration.crm)
    const line = {
      event: 'listening',
      address: `${address}/`,
      operations,
      try: link,
      version: VERSION,
      runtime: runtimeName(),
      timeZoneData: ZONE_DATA_VERSION,
      ...(connector.length === 0 ? {} : { connector }),
      ...(staleIfErrorMs === 0 ? {} : { staleIfErrorMs }),
    }
    out(JSON.stringify({ time: new Date(atMs).toISOString(), level: 'info', ...line, configuration: from }))
    return
  }
  const [strong, quiet, blue] = [painter(env, 1), painter(env, 2), painter(env, 36)]
  const check = commandLine(['check', ...(option === undefined ? [] : ['--config', option])], context)
  const standing = standingOf(marquee, `${check} tells why`)
  const label = (name: string): string => `  ${quiet(name.padEnd(12))}`
  out('')
  out(`  ${strong(`Marquee ${VERSION}`)} ${quiet(`on ${runtimeName()}`)}`)
  out('')
  out(`  ${painter(env, standing.isGood ? 32 : 33)('●')} ${printable(standing.sentence)}`)
  if (staleIfErrorMs > 0) {
    const past = `${spanText(staleIfErrorMs)} past the maximum age`
    out(`    ${quiet(`If the CRM fails, callers get answers for up to ${past}, then 502`)}`)
  }
  out('')
  const open = configuration.describe ? ` ${quiet('open it in a browser')}` : ''
  out(`${label('public')}${blue(`${address}${basePath === '/' ? '' : basePath}/`)}${open}`)
  if (operations !== null) out(`${label('operations')}${blue(operations)} ${quiet('health, metrics, dashboard')}`)
  out(`${label('read from')}${printable(from)}`)
  for (const { file, sha256 } of ownCode(configuration.crm))
    out(`${label('connector')}${printable(file)} ${quiet(`SHA-256 ${sha256}`)}`)
  out('')
  if (link !== null && id !== null) {
    // On separate lines, so that no id is broken within 80 columns.
    out(`  ${quiet('try')}`)
    out(`  ${strong(`curl ${link}`)}`)
    out(`  ${strong("curl -H 'Accept: application/hal+json' \\")}`)
    out(`       ${strong(link)}`)
    if (configuration.lists) out(`  ${strong(`curl '${link.slice(0, -id.length - 1)}?limit=3'`)}`)
    out('')
  }
  out(`  ${quiet('Press Ctrl-C to stop. What happens is logged below.')}`)
  out('')
}

function standingOf({ reading }: Marquee, toldBy: string): { readonly isGood: boolean; readonly sentence: string } {
  const { events, venues } = reading.lists()
  const failure = events.lastFailure ?? venues.lastFailure
  if (failure !== null) {
    return { isGood: false, sentence: `Requests get 502 until the CRM can be read: ${failure.message}` }
  }
  const served = `${howMany(events.list.served, 'event')} and ${howMany(venues.list.served, 'venue')}`
  const now = systemTime.now()
  if (events.ageMs(now) === null || venues.ageMs(now) === null) {
    return { isGood: false, sentence: `Requests get 502 until the CRM's lists are read; ${served} so far` }
  }
  const empty = [events.list, venues.list].find((list) => list.served === 0 && list.withheldInAll > 0)
  if (empty !== undefined) {
    const rows = `there are ${howMany(empty.withheldInAll, 'row')}`
    return { isGood: false, sentence: `Serving ${served}: no ${empty.kind.name}, though ${rows}; ${toldBy}` }
  }
  const withheld = events.list.withheldInAll + venues.list.withheldInAll
  const rest = withheld === 0 ? '' : `; ${howMany(withheld, 'row')} withheld, ${toldBy}`
  return { isGood: true, sentence: `Serving ${served}${rest}` }
}

function firstId({ reading }: Marquee): string | null {
  const { list } = reading.lists().events
  for (const row of list.rows()) if (row.isServed) return row.id
  return null
}

/** Returns a function that adds an SGR code, unless NO_COLOR is set (no-color.org) or the terminal has no colours. */
function painter(env: CommandContext['env'], code: number): (text: string) => string {
  const isPlain = (env['NO_COLOR'] ?? '') !== '' || env['TERM'] === 'dumb'
  return (text) => (isPlain ? text : `\x1b[${code}m${text}\x1b[0m`)
}
