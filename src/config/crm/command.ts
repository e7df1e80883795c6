import { existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { EVENTS } from '../../domain/event.ts'
import { VENUES } from '../../domain/venue.ts'
import { type Key, ValueProblem, wholeKey } from '../key.ts'
import { section } from '../section.ts'
import { NAME, text, word } from '../values.ts'
import { settingsOfConnector } from './connector-lists.ts'
import { type CodeFile, processKeys, readCode } from './own-process.ts'
import { fieldSources } from './field-sources.ts'
import { condition } from './condition.ts'

/** An operator's command, with the digests of the files that it names. */
interface OwnCommand {
  readonly words: readonly string[]
  readonly folder: string
  readonly files: readonly CodeFile[]
}

const WORDS = 'a list of words, such as [python3, our_crm.py]'
const MOST_WORDS = 100

const ownCommand: Key<OwnCommand> = wholeKey(
  WORDS,
  { type: 'array', items: { type: 'string' }, minItems: 1 },
  (node, { inFile }) => {
    if (node.kind !== 'list' || node.items.length === 0 || node.items.length > MOST_WORDS) return null
    const { folder } = inFile
    const words: string[] = []
    const files: CodeFile[] = []
    for (const item of node.items) {
      if (item.kind !== 'scalar' || item.value === null || item.value === '') return null
      const name = String(item.value)
      const file = resolve(folder, name)
      const isProgram = words.length === 0
      words.push(isProgram && name.includes('/') ? file : name)
      if ((isProgram && !name.includes('/')) || !existsSync(file) || !statSync(file).isFile()) continue
      const code = readCode(file)
      if (code instanceof ValueProblem) return new ValueProblem(`names ${JSON.stringify(name)}, which ${code.message}`)
      files.push(code)
    }
    return { words, folder, files }
  },
)

/** The ways of reading that a command may know besides `full`. */
const WAYS = ['changes', 'since', 'ids', 'byId', 'availability'] as const
type CommandWay = 'full' | (typeof WAYS)[number]

const ways: Key<readonly CommandWay[]> = wholeKey(
  `a list that begins with full, of full, ${WAYS.join(', ')}`,
  { type: 'array', items: { enum: ['full', ...WAYS] } },
  (node) => {
    if (node.kind !== 'list') return null
    const named = node.items.map((item) => (item.kind === 'scalar' ? item.value : null))
    const known = (['full', ...WAYS] as const).filter((way) => named.includes(way))
    if (known.length !== named.length || known[0] !== 'full') return null
    return known.includes('ids') && !known.includes('since') ? new ValueProblem('has ids without since') : known
  },
)

const columns = {
  ways: ways
    .optional('`[full]`')
    .map((named) => named ?? (['full'] as const))
    .says(
      'The ways in which the command can read the list: `full`, and any of `since`, `ids`, `byId`, `changes` and `availability`.',
    ),
  active: condition('Which rows are active; null means all.').optional('all rows'),
  updatedAt: text('the name of a column, or a path', NAME)
    .optional()
    .says('The column with the time of a row’s last change; `since` needs it.'),
}

/** An operator's connector: a command in any language. */
export const command = section({
  kind: word('command'),
  run: ownCommand.says(
    'The program and its arguments, in any language; not a line for a shell (docs/crm/your-own.md).',
  ),
  ...processKeys,
  events: section({
    ...columns,
    showOnWeb: condition('Which events are shown; null means all.').optional('all events'),
    fields: fieldSources(EVENTS, { labels: false }),
  }),
  venues: section({ ...columns, fields: fieldSources(VENUES, { labels: false }) }),
})
  .says('A connector of your own as a command: any program that prints rows as JSON lines (docs/crm/your-own.md).')
  .map(
    settingsOfConnector(({ run: { words, files }, settings }) => {
      return { words, digests: files.map(({ sha256 }) => sha256), settings }
    }),
  )
