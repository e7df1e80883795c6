// Proves that another service and this one answer alike. In: ids or an access log, and functions that ask both services.
// Out: a tally of what is the same and what differs with examples, from which report.ts makes the report.
// questions.ts and access-log.ts make the questions, comparison.ts asks them, judge.ts compares two answers.
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { howMany } from '../domain/printable.ts'
import { codeOf } from '../domain/system-error.ts'
import type { Time } from '../time/time.ts'
import { type AccessLog, readAccessLog } from './access-log.ts'
import { type ComparisonEnd, compareServices } from './comparison.ts'
import { Journal, readJournal } from './journal.ts'
import { type Question, IdQuestions } from './questions.ts'
import type { AskService } from './remote-service.ts'
import { type ComparedAnswer, ComparisonTally } from './tally.ts'

/** Where the questions come from. Paths of files are absolute; `basePath` is the old service's, without a slash at the end. */
export type QuestionSource =
  | { readonly kind: 'all'; readonly ids: Iterable<string> }
  | { readonly kind: 'ids'; readonly path: string }
  | { readonly kind: 'log'; readonly path: string; readonly basePath: string }

export interface RunOptions {
  readonly source: QuestionSource
  /** The types to ask in; of a log, for requests of which it does not tell the type. */
  readonly types: readonly string[]
  readonly seed: number
  /** The file that keeps the outcomes; `null` to keep none. */
  readonly resume: string | null
  /** What is compared: a file of outcomes goes on only with the same. */
  readonly about: string
  readonly askOld: AskService
  readonly askNew: AskService
  readonly time: Time
  readonly signal: AbortSignal
  /** Called with sentences about the questions, before the first is asked. */
  readonly onNote: (sentence: string) => void
  readonly onProgress: (tally: ComparisonTally, total: number) => void
}

export type ComparisonResult =
  | { readonly ok: true; readonly tally: ComparisonTally; readonly total: number; readonly ending: ComparisonEnd }
  /** `message` is a sentence about a file. */
  | { readonly ok: false; readonly message: string }

/** Makes the questions, leaves out those that were answered before, and asks the others. */
export async function runComparison(options: RunOptions): Promise<ComparisonResult> {
  const { source, resume, about, onProgress } = options
  const tally = new ComparisonTally()
  const done = new Set<string>()
  const wasBegun = resume !== null && existsSync(resume)
  let journal: Journal | null = null
  try {
    const questions = await questionsOf(options)
    if (typeof questions === 'string') return { ok: false, message: questions }
    if (wasBegun) {
      const compared = await readJournal(resume, (outcome) => {
        tally.add(outcome)
        done.add(keyOf(outcome.question))
      })
      if (compared !== about) {
        const other =
          compared === null ? 'no outcomes of marquee compare' : `the outcomes of another comparison: ${compared}`
        return { ok: false, message: `${resume} has ${other}; name another file with --resume` }
      }
    }
    journal = resume === null ? null : new Journal(resume, about, !wasBegun)
    const left = Iterator.from(questions).filter((question) => !done.has(keyOf(question)))
    const total = questions.length
    const onOutcome = (outcome: ComparedAnswer): void => {
      const kept = tally.add(outcome)
      journal?.add(kept)
      onProgress(tally, total)
    }
    const onReplies = tally.noteFields.bind(tally)
    const ending = await compareServices({ ...options, questions: left, onOutcome, onReplies })
    return { ok: true, tally, total: Math.max(total, tally.comparisons), ending }
  } catch (cause) {
    const code = codeOf(cause)
    if (code === null) throw new Error('the comparison failed', { cause })
    const file =
      cause instanceof Error && 'path' in cause ? String(cause.path) : 'path' in source ? source.path : (resume ?? '')
    return { ok: false, message: `${file} cannot be read or written (${code})` }
  } finally {
    journal?.close()
  }
}

function keyOf({ method, path, accept }: Question): string {
  return `${method} ${path} ${accept}`
}

type Questions = Iterable<Question> & { readonly length: number }

/** Returns the questions, or why there are none. */
async function questionsOf({ source, types, seed, onNote }: RunOptions): Promise<Questions | string> {
  if (source.kind === 'log')
    return loggedQuestions(await readAccessLog(source.path, source.basePath, types), source, onNote)
  const lines = source.kind === 'all' ? source.ids : (await readFile(source.path, 'utf8')).split(/[\r\n]+/)
  const ids = Array.from(lines, (line) => line.trim()).filter((id) => id !== '')
  const questions = new IdQuestions(ids, types, seed)
  if (questions.length > 0) return questions
  return source.kind === 'ids' ? `${source.path} has no ids` : 'the CRM has no events and no venues'
}

function loggedQuestions(
  { questions, requests, others, unreadable, withQuery }: AccessLog,
  { path, basePath }: { readonly path: string; readonly basePath: string },
  onNote: (sentence: string) => void,
): Questions | string {
  const left = others + unreadable
  if (questions.length === 0) {
    const below = basePath === '' ? '' : ` below ${basePath}`
    return `${path} ${left === 0 ? 'is empty' : `has no request for an event or a venue${below}`}`
  }
  const skipped = `; ${howMany(others, 'other request')} and ${howMany(unreadable, 'line')} that cannot be read are left out`
  onNote(`${path}: ${howMany(requests, 'request')} for events and venues${left === 0 ? '' : skipped}.`)
  if (withQuery > 0) onNote(`${howMany(withQuery, 'request')} had a query, which is not asked.`)
  return questions
}
