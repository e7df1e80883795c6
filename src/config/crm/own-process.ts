import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { codeOf } from '../../domain/system-error.ts'
import { type Key, type ValueSchema, ValueProblem, isNull, scalarOf, wholeKey } from '../key.ts'
import { Secret } from '../../domain/secret.ts'
import { size } from '../values.ts'
import { commonKeys } from './connector-lists.ts'

/** An operator's program, as it was when the configuration was read. */
export interface CodeFile {
  readonly file: string
  readonly sha256: string
}

const LARGEST_BYTES = 16 * 1024 * 1024
const OTHERS_MAY_WRITE = 0o022

/** Reads a program's digest. Refuses a file that other users may change, because it runs with the service's rights. */
export function readCode(file: string): CodeFile | ValueProblem {
  try {
    const stats = statSync(file)
    if (!stats.isFile()) return new ValueProblem('is not a file')
    if (stats.size > LARGEST_BYTES) return new ValueProblem('is larger than 16 MB')
    if (process.platform !== 'win32') {
      if ((stats.mode & OTHERS_MAY_WRITE) !== 0)
        return new ValueProblem('can be written by others: chmod go-w the file')
      if ((statSync(dirname(file)).mode & OTHERS_MAY_WRITE) !== 0)
        return new ValueProblem('is in a folder that others can write: chmod go-w the folder')
    }
    return { file, sha256: createHash('sha256').update(readFileSync(file)).digest('hex') }
  } catch (cause) {
    const code = codeOf(cause) ?? 'unknown reason'
    return new ValueProblem(code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`)
  }
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
    for (const [name, said] of node.entries) {
      const scalar = scalarOf(said)
      if (scalar === null || isNull(said))
        return place.in(name, said).refuse(said, 'must be a text, a number, true or false')
      const { value, reference } = scalar
      settings[name] = reference === null ? value : new Secret(String(value), reference)
    }
    return settings
  },
)

/** The keys of every connector that runs in a separate process. */
export const processKeys = {
  settings: connectorSettings
    .optional()
    .map((given) => given ?? {})
    .says('The connector’s settings, such as a URL, a key or a number.'),
  memory: size().default('512MB').says('The memory limit of the connector’s process; a process above it is ended.'),
  ...commonKeys,
}
