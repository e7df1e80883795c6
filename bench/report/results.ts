import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Section } from '../part.ts'

/** The latest result of a part. The page is made of one of each part, so parts can be measured on different days. */
export interface Result extends Section {
  /** The day in UTC, as `2026-11-23`. */
  readonly date: string
  /** The machine and the software versions, as a Markdown list. */
  readonly machine: string
  /** What could not be measured on that machine, and why. */
  readonly leftOut: readonly string[]
}

/** Reads the results of these parts, in their order, without those that have never been measured. */
export function readResults(folder: string, parts: readonly string[]): readonly Result[] {
  return parts
    .map((part) => fileOf(folder, part))
    .filter((file) => existsSync(file))
    .map((file) => JSON.parse(readFileSync(file, 'utf8')) as Result)
}

/** Replaces the result of a part. */
export function writeResult(folder: string, part: string, result: Result): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(fileOf(folder, part), `${JSON.stringify(result, null, 2)}\n`)
}

function fileOf(folder: string, part: string): string {
  return join(folder, `${part}.json`)
}
