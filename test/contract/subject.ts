import type { FilesDirectory, Lists, Settings } from '../support/files-directory.ts'
import type { Reply } from '../support/reply.ts'

export interface Ask {
  /** GET by default. */
  readonly method?: string
  /** One entry per line, so a name may be repeated. */
  readonly headers?: readonly (readonly [string, string])[]
}

/** A Marquee under test, on any runtime. */
export interface Subject {
  readonly directory: FilesDirectory
  /** Sends a request. `target` is the request target. */
  ask(target: string, ask?: Ask): Promise<Reply>
  stop(): Promise<void>
}

/** Starts a Marquee. Without `lists` it has no CRM directory. */
export type Start = (settings: Settings, lists: Lists | null) => Promise<Subject>

export function accept(mediaType: string): Ask {
  return { headers: [['Accept', mediaType]] }
}
