import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { nearestName } from '../config/nearest-name.ts'
import { printable } from '../observe/printable.ts'
import { kinds, TEMPLATES } from './init-templates.ts'
import type { Surroundings } from './surroundings.ts'
import { ANSWER_IS_NO, FINE, WRONG_USAGE } from './surroundings.ts'

const FILE = 'marquee.yaml'

const REASONS: ReadonlyMap<string, string> = new Map([
  ['EEXIST', 'exists already, and was left as it is'],
  ['EACCES', 'cannot be written: this user has no right to'],
  ['EPERM', 'cannot be written: this user has no right to'],
  ['EROFS', 'cannot be written: the file system is read-only'],
  ['ENOSPC', 'cannot be written: the disk is full'],
  ['ENOENT', 'cannot be written: the directory is gone'],
])

/** Writes a commented marquee.yaml for a CRM, never over an existing file. */
export async function init(kind: string, { cwd, out, error }: Surroundings): Promise<number> {
  const template = TEMPLATES.get(kind)
  if (template === undefined) {
    const nearest = nearestName(kind, kinds)
    const hint = nearest === null ? '' : `did you mean ${nearest}? `
    error(`there is no kind of CRM called ${JSON.stringify(kind.slice(0, 80))}; ${hint}known: ${kinds.join(', ')}`)
    return WRONG_USAGE
  }
  const path = resolve(cwd, FILE)
  try {
    await writeFile(path, template, { flag: 'wx' })
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown reason'
    error(printable(`${path} ${REASONS.get(code) ?? `cannot be written (${code})`}`))
    return ANSWER_IS_NO
  }
  out(printable(`Wrote ${path}.`))
  out(`Next: ${NEXT.get(kind) ?? 'fill in crm'}, then \`marquee check\` tells what would be served.`)
  return FINE
}

const NEXT: ReadonlyMap<string, string> = new Map([
  ['files', 'put events and venues, each as .csv, .json or .ndjson, into the folder crm beside it'],
  ['dataverse', 'name your environment and app registration, and set DATAVERSE_CLIENT_SECRET'],
  ['postgres', 'set DATABASE_URL, and name the tables or views'],
])
