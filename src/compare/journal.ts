import { closeSync, createReadStream, openSync, writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fieldsOf } from '../domain/json-value.ts'
import { type Class, type Difference, type ValuePair, CLASSES } from './difference.ts'
import type { Question } from './questions.ts'
import type { ComparedAnswer } from './tally.ts'

/** The outcomes so far, as lines of a file: a comparison that was ended goes on with what is not in it. */
export class Journal {
  readonly #file: number

  /** Opens the file to append to it. @param isNew whether it needs the line that says what is compared */
  constructor(path: string, subject: string, isNew: boolean) {
    this.#file = openSync(path, 'a', 0o600)
    // The last line may have been cut off.
    writeSync(this.#file, isNew ? `${JSON.stringify({ compares: subject })}\n` : '\n')
  }

  add({ question, class: kind, findings, rows }: ComparedAnswer): void {
    const { method, path, accept, weight } = question
    const entry = [method, path, accept, weight, kind, ...(findings.length === 0 ? [] : [findings, rows])]
    writeSync(this.#file, `${JSON.stringify(entry)}\n`)
  }

  close(): void {
    closeSync(this.#file)
  }
}

/**
 * Passes the outcomes of a journal on, one by one. Resolves with what the journal says it compares; `null` if the file is
 * no journal. Lines that were cut off are skipped.
 */
export async function readJournal(path: string, onOutcome: (outcome: ComparedAnswer) => void): Promise<string | null> {
  let subject: string | null = null
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
    const entry = parsed(line)
    if (subject === null) {
      const { compares } = fieldsOf(entry)
      if (typeof compares !== 'string') return null
      subject = compares
      continue
    }
    const outcome = Array.isArray(entry) ? outcomeOf(entry) : null
    if (outcome !== null) onOutcome(outcome)
  }
  return subject
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return null
  }
}

function outcomeOf([
  method,
  path,
  accept,
  weight,
  kind,
  findings = [],
  rows = [],
]: readonly unknown[]): ComparedAnswer | null {
  if ((method !== 'GET' && method !== 'HEAD') || typeof path !== 'string' || typeof accept !== 'string') return null
  if (typeof weight !== 'number' || !isClass(kind) || !Array.isArray(findings) || !Array.isArray(rows)) return null
  const question: Question = { method, path, accept, weight }
  return { question, class: kind, findings: findings.filter(isFinding), rows: rows.filter(isRow) }
}

function isClass(value: unknown): value is Class {
  return CLASSES.some((name) => name === value)
}

function isFinding(value: unknown): value is Difference {
  return isRow(value) && value.what !== null
}

function isRow(value: unknown): value is ValuePair {
  const { class: kind, what, at, old, new: fresh } = fieldsOf(value)
  return isClass(kind) && typeof at === 'string' && [what, old, fresh].every(isTextOrNull)
}

function isTextOrNull(value: unknown): boolean {
  return typeof value === 'string' || value === null
}
