import type { Configuration } from '../config/configuration.ts'
import { printable } from '../domain/printable.ts'
import { type Explanation, explainId } from '../operations/explanation.ts'
import { systemTime } from '../time/time.ts'
import { type ConfigurationOptions, readConfiguration } from '../config/read-configuration.ts'
import { readCrm } from '../app/assemble.ts'
import { askRunning, whyRefused } from './running-instance.ts'
import { type CommandContext, ANSWER_IS_NO, FINE, WRONG_USAGE } from '../app/command-context.ts'

/** The output of `explain --json`, a part of the running instance's answer. */
type PrintedRecord = Pick<Explanation, 'id' | 'kind' | 'shown' | 'steps'>
type Printed = PrintedRecord & { readonly also?: readonly PrintedRecord[] }

interface Explained {
  readonly explanation: Printed
  /** The explanation's origin, as the end of a sentence. */
  readonly from: string
  /** Whether the configuration names something that the CRM does not have. */
  readonly misconfigured: boolean
}

/** Explains why a record is or is not on the web. Asks the running instance if there is one, otherwise the CRM. */
export async function explain(
  id: string,
  { json = false, ...options }: ConfigurationOptions & { readonly json?: boolean },
  context: CommandContext,
): Promise<number> {
  const read = await readConfiguration(options, context)
  if (read === null) return WRONG_USAGE
  const { configuration } = read
  const running = await fromRunning(id, configuration, context)
  const explained = typeof running === 'string' ? await fromCrm(id, configuration, running, json, context) : running
  const { explanation, misconfigured } = explained
  if (!json) print(explained, context)
  else if (!(await context.answer(JSON.stringify(explanation)))) return ANSWER_IS_NO
  if (misconfigured) return WRONG_USAGE
  return recordsOf(explanation).every(({ shown }) => shown) ? FINE : ANSWER_IS_NO
}

/**
 * Asks the running instance. If that gives no explanation, returns what precedes `the CRM was read now`: why, or nothing
 * if a warning said it.
 */
async function fromRunning(
  id: string,
  configuration: Configuration,
  { error }: CommandContext,
): Promise<Explained | string> {
  // A URL parser would remove these from the end of the path.
  if (['', '.', '..'].includes(id)) return ''
  if (configuration.operations === null) return 'operations is null, so no instance was asked; '
  const reply = await askRunning(configuration, 'GET', `/explain/${encodeURIComponent(id)}`)
  if (reply.kind === 'not-running') return 'no instance runs, so '
  if (reply.kind === 'answered' && isExplanation(reply.body)) {
    const from = `answered by the running instance at ${reply.address}`
    return { explanation: printedPart(reply.body), from, misconfigured: false }
  }
  error(`warning: the CRM is read instead: ${reply.kind === 'answered' ? whyRefused(reply) : reply.message}`)
  return ''
}

async function fromCrm(
  id: string,
  configuration: Configuration,
  noneAsked: string,
  json: boolean,
  { error }: CommandContext,
): Promise<Explained> {
  const { marquee, lists, failures } = await readCrm(configuration, { onSlow: json ? undefined : error })
  for (const { list, failure } of failures) error(printable(`the ${list} could not be read: ${failure.message}`))
  const { lists: hasLists } = configuration
  const options = { ...marquee.explaining, lists, now: systemTime.now(), mayAnswer: () => true, hasLists }
  return {
    explanation: printedPart(await explainId(id, options)),
    from: `${noneAsked}the CRM was read now`,
    misconfigured: failures.some(({ failure }) => failure.kind === 'misconfigured'),
  }
}

/** Returns the requested record, then others with the same id. */
function recordsOf({ also = [], ...first }: Printed): readonly PrintedRecord[] {
  return [first, ...also]
}

function printedPart({ also, ...first }: Printed): Printed {
  return { ...withoutBodies(first), ...(also === undefined ? {} : { also: also.map(withoutBodies) }) }
}

function withoutBodies({ id, kind, shown, steps }: PrintedRecord): PrintedRecord {
  return { id, kind, shown, steps: steps.map(({ step, ok, detail }) => ({ step, ok, detail })) }
}

/** Tells an explanation from what another server may answer there. */
function isExplanation(body: unknown): body is Printed {
  if (typeof body !== 'object' || body === null || !isPrintedRecord(body)) return false
  return !('also' in body) || (Array.isArray(body.also) && body.also.every(isPrintedRecord))
}

function isPrintedRecord(body: unknown): body is PrintedRecord {
  if (typeof body !== 'object' || body === null) return false
  if (!('id' in body && 'kind' in body && 'shown' in body && 'steps' in body)) return false
  const { id, kind, shown, steps } = body
  const isKind = kind === 'event' || kind === 'venue' || kind === null
  return typeof id === 'string' && isKind && typeof shown === 'boolean' && Array.isArray(steps) && steps.every(isStep)
}

function isStep(step: unknown): boolean {
  if (typeof step !== 'object' || step === null || !('step' in step && 'ok' in step && 'detail' in step)) return false
  return typeof step.step === 'string' && typeof step.ok === 'boolean' && typeof step.detail === 'string'
}

function print({ explanation, from }: Explained, { out }: CommandContext): void {
  for (const { id, kind, shown, steps } of recordsOf(explanation)) {
    const what = kind === null ? JSON.stringify(id) : `The ${kind} ${id}`
    out(printable(`${what} is ${shown ? '' : 'not '}on the web (${from}).`))
    for (const { ok, detail } of steps) out(printable(`${ok ? '  yes ' : shown ? '  but ' : '  NO  '} ${detail}`))
  }
}
