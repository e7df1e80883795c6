import type { FilesDirectory, Lists, Settings } from '../support/files-directory.ts'
import type { Reply } from '../support/reply.ts'

export interface Ask {
  /** GET where it is left out. */
  readonly method?: string
  /** Line by line: a name may come again. */
  readonly headers?: readonly (readonly [string, string])[]
}

/** A Marquee under test, however it runs. */
export interface Subject {
  readonly directory: FilesDirectory
  /** `target` as on a request line. */
  ask(target: string, ask?: Ask): Promise<Reply>
  stop(): Promise<void>
}

/** Starts one; without `lists` it finds no CRM directory. */
export type Start = (settings: Settings, lists: Lists | null) => Promise<Subject>

export function accept(mediaType: string): Ask {
  return { headers: [['Accept', mediaType]] }
}
