import { z } from 'zod'
import type { Zone } from '../../domain/zone.ts'
import { text } from '../values/text.ts'
import { timeZone } from '../values/time-zone.ts'
import type { General } from '../general.ts'

export interface FilesBlock {
  readonly kind: 'files'
  readonly directory: string
  readonly timeZone?: Zone | undefined
}

export interface FilesCrm {
  readonly kind: 'files'
  /** Absolute. */
  readonly directory: string
  /** What wall times without an offset are in. */
  readonly timeZone: Zone
}

export const filesBlock: z.ZodObject<
  { kind: z.ZodLiteral<'files'>; directory: z.ZodType<string>; timeZone: z.ZodType<Zone | undefined> },
  z.core.$strict
> = z
  .strictObject({
    kind: z.literal('files').describe('Files that somebody exports.'),
    directory: text(
      'the directory that holds events and venues',
      (path) => path !== '' && !path.includes('\0'),
    ).describe('Holds `events` and `venues`, each as `.json`, `.ndjson` or `.csv`.'),
    timeZone: timeZone()
      .optional()
      .meta({ shown: 'the `timeZone` above' })
      .describe('What dates without an offset are wall times in.'),
  })
  .describe('Two lists in files, for a first try and for nightly exports.')

export function filesCrm(block: FilesBlock, general: General, absolute: (path: string) => string): FilesCrm {
  return { kind: 'files', directory: absolute(block.directory), timeZone: block.timeZone ?? general.timeZone }
}
