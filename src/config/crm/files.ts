import type { General, SettingsOfKind } from '../general.ts'
import { section } from '../section.ts'
import { path, timeZone, word } from '../values.ts'

/** Two lists in the files of a folder. */
export const files = section({
  kind: word('files'),
  directory: path('the directory that holds events and venues').says(
    'Holds `events` and `venues`, each as `.json`, `.ndjson` or `.csv`.',
  ),
  timeZone: timeZone().optional('the `timeZone` above').says('What dates without an offset are wall times in.'),
})
  .says('Two lists in files, for a first try and for nightly exports.')
  .map((block) => (general: General) => ({ ...block, timeZone: block.timeZone ?? general.timeZone }))

export type FilesSettings = SettingsOfKind<typeof files>
