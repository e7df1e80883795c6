import { createHash } from 'node:crypto'
import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { codeOf } from '../../domain/system-error.ts'
import { type Key, type ValueSchema, ValueProblem, isNull, scalarOf, wholeKey, leaf, section } from '../key.ts'
import { Secret } from '../../domain/secret.ts'
import { size, textSchema, word, NAME, text } from '../values.ts'
import { commonKeys, connectorLists, settingsOfConnector, webKeys } from './connector-lists.ts'
import { EVENTS } from '../../domain/event.ts'
import { VENUES } from '../../domain/venue.ts'
import { fieldSources } from './field-sources.ts'
import { condition } from './condition.ts'

/** An operator's program, as it was when the configuration was read. */
interface CodeFile {
  readonly file: string
  readonly sha256: string
}

const LARGEST_MODULE_BYTES = 16 * 1024 * 1024
const CHUNK_BYTES = 1024 * 1024
const OTHERS_MAY_WRITE = 0o022

/** Reads a program's digest. Refuses a file that other users may change, because it runs with the service's rights. */
function readCode(file: string, mostBytes = Infinity): CodeFile | ValueProblem {
  try {
    const stats = statSync(file)
    if (!stats.isFile()) return new ValueProblem('is not a file')
    if (stats.size > mostBytes) return new ValueProblem('is larger than 16 MB')
    if (process.platform !== 'win32') {
      if ((stats.mode & OTHERS_MAY_WRITE) !== 0)
        return new ValueProblem('can be written by others: chmod go-w the file')
      if ((statSync(dirname(file)).mode & OTHERS_MAY_WRITE) !== 0)
        return new ValueProblem('is in a folder that others can write: chmod go-w the folder')
    }
    return { file, sha256: digestOfFile(file) }
  } catch (cause) {
    const code = codeOf(cause) ?? 'unknown reason'
    return new ValueProblem(code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`)
  }
}

/** Hashes a file in parts: some programs have hundreds of megabytes. */
function digestOfFile(file: string): string {
  const hash = createHash('sha256')
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
  const opened = openSync(file, 'r')
  try {
    for (let read = readSync(opened, chunk); read > 0; read = readSync(opened, chunk))
      hash.update(chunk.subarray(0, read))
  } finally {
    closeSync(opened)
  }
  return hash.digest('hex')
}

const VALUE: ValueSchema = {
  anyOf: [{ type: ['string', 'number', 'boolean'] }, { $ref: '#/definitions/reference' }],
}

/** Settings that only the connector knows. A value given as `{ env }` or `{ file }` is a secret. */
const connectorSettings: Key<Readonly<Record<string, string | number | boolean | Secret>>> = wholeKey(
  'a mapping of the connector’s own settings, such as { url: https://crm.example.org, token: { env: TOKEN } }',
  { type: 'object', additionalProperties: VALUE },
  (node, place) => {
    if (node.kind !== 'map') return null
    const settings: Record<string, string | number | boolean | Secret> = {}
    for (const [name, inner] of node.entries) {
      const scalar = scalarOf(inner)
      if (scalar === null || isNull(inner))
        return place.in(name, inner).refuse(inner, 'must be a text, a number, true or false')
      const { value, reference } = scalar
      settings[name] = reference === null ? value : new Secret(String(value), reference)
    }
    return settings
  },
)

/** The keys of every connector that runs in a separate process. */
const processKeys = {
  settings: connectorSettings
    .optional()
    .map((settings) => settings ?? {})
    .says('The connector’s settings, such as a URL, a key or a number.'),
  memory: size().default('512MB').says('The memory limit of the connector’s process; a process above it is ended.'),
  ...commonKeys,
}

const CODE_FILE = /\.m?[jt]s$/

/** The path of a program. The settings contain its digest, because another version may make other records. */
const codeFile: Key<CodeFile> = leaf(
  'the path of a .ts, .mts, .js or .mjs file',
  textSchema(CODE_FILE),
  ({ value }, { inFile }) => {
    if (typeof value !== 'string' || !CODE_FILE.test(value)) return null
    return readCode(resolve(inFile.folder, value), LARGEST_MODULE_BYTES)
  },
)

/** An operator's connector: a TypeScript or JavaScript file. */
export const moduleKeys = section({
  kind: word('module'),
  path: codeFile.says('The connector: a `.ts`, `.mts`, `.js` or `.mjs` file. It runs in a process of its own.'),
  ...processKeys,
  ...connectorLists,
  ...webKeys,
  proxy: webKeys.proxy.says('The forward proxy for requests of `context.http`; `NO_PROXY` is then ignored.'),
})
  .says('A connector of your own, in TypeScript or JavaScript (docs/crm/your-own.md).')
  .map(settingsOfConnector(({ path: { sha256 }, settings }) => ({ sha256, settings })))

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
