import { KEYS } from '../src/config/configuration.ts'
import type { AnyKey, Keys } from '../src/config/key.ts'

const INTRODUCTION = `# Configuration

<!-- Written by scripts/configuration-docs.ts from the schema in src/config; edit that. -->

The configuration is one file in YAML, or JSON, in UTF-8, of at most 1 MB. Every command uses the file that \`--config\` names, otherwise the one that
\`MARQUEE_CONFIG\` names, otherwise \`./marquee.yaml\`. Without a file, or with one that sets only \`listen\`, \`operations\` or both, Marquee serves the
sample that ships with it. A \`./marquee.yaml\` that cannot be read, or is a link to a missing file, is an error: the sample is not served.

\`--port\` and \`MARQUEE_LISTEN_PORT\` override \`listen.port\`; \`--operations-port\` and \`MARQUEE_OPERATIONS_LISTEN_PORT\` override
\`operations.port\`. An option overrides a variable. Both also apply to the sample and to a reload.

- Every key has a default, except some of the chosen CRM's. The smallest configuration is

  \`\`\`yaml
  crm:
    kind: files
    directory: ./crm
  \`\`\`

- Marquee refuses unknown keys. It reports all problems at once, each with its line:

  \`\`\`
  marquee.yaml:3: freshness.maxAeg is not a known key; did you mean maxAge?
  marquee.yaml:5: listen.port is "http"; it must be a whole number from 0 to 65535
  \`\`\`

- Editors complete and check the keys with [marquee.schema.json](marquee.schema.json), a JSON Schema. \`init\` writes the line that names it,
  which VS Code (with the YAML extension) and JetBrains read. \`check\` examines more, for example whether a variable is set.
- Relative paths are relative to the configuration file.
- Any value may be \`{ env: NAME }\`, an environment variable, or \`{ file: PATH }\`, the text of a file without the newline at its
  end. A variable or a file that is missing or empty is a problem.
- Secrets must be given in one of these two ways, never in the file itself. A URL with a password in it is a secret. Messages show only the name of a
  reference, never its value. Marquee reads a secret's file again when the CRM refuses the secret, so a new secret takes effect
  without a restart. The copy of systemd's LoadCredential is an exception: systemd makes it at the start.
`

/** Kinds of values that many keys have: the words of their keys, the name that stands for these, and what it means. */
const VALUES: readonly (readonly [words: string, name: string, meaning: string])[] = [
  [
    'a duration such as 500ms, 30s, 15m or 2h',
    'duration',
    'a whole number and a unit: `500ms`, `30s`, `15m`, `2h`; at most 576h (24 days). `0` needs no unit',
  ],
  [
    'a size such as 512MB, 2GB or 2GiB',
    'size',
    'a whole number and a unit: `KB`, `MB`, `GB`, `TB` count in thousands, `KiB`, `MiB`, `GiB`, `TiB` in 1024s',
  ],
  ['on, off, true or false', 'switch', '`on`, `off`, `true` or `false`'],
  ['given as { env: NAME } or { file: PATH }', 'reference', '`{ env: NAME }` or `{ file: PATH }`'],
  ['an IANA time zone such as UTC or Europe/London', 'zone', 'an IANA time zone such as `UTC` or `Europe/London`'],
  [
    'a mapping of columns to their values, such as { status: [1, 2] }, { cancelled: blank } or { state: { not: [x] } }',
    'condition',
    'a mapping of columns to their values, all of which must hold: `{ status: [1, 2] }`, `{ cancelled: blank }`, `{ state: { not: [x] } }`',
  ],
  ['a path such as data.items', 'path', 'names joined by dots, such as `data.items`'],
  [
    "a mapping of names to values, such as { limit: '{size}' }",
    'mapping',
    "names and values, such as `{ limit: '{size}' }`",
  ],
]

/** A key in the table: its cells. */
interface Row {
  readonly key: string
  readonly fallback: string
  readonly meaning: string
  readonly allowed: string
}

/** Generates docs/configuration.md: every key with its default, meaning and allowed values. */
export function configurationPage(): string {
  const general: Row[] = []
  const parts: string[] = []
  for (const [name, key] of Object.entries<AnyKey>(KEYS)) {
    const { inside, description } = key.notes
    if (inside?.kind === 'kinds') {
      const which = 'Required; `crm.kind` decides which other keys there are. LIST is `events` or `venues`.'
      parts.push(`## ${name}\n\n${description} ${which}\n`, ...kindParts(name, inside.kinds))
    } else if (inside?.kind === 'section') parts.push(table(`## ${name}\n\n${description}`, rowsOf(name, key)))
    else general.push(...rowsOf(name, key))
  }
  return [INTRODUCTION, values(), table('## At the top', general), ...parts].join('\n')
}

function values(): string {
  const lines = VALUES.map(([, name, meaning]) => `- *${name}*: ${meaning}`)
  return `## Values\n\nWords in italics in the tables below mean:\n\n${lines.join('\n')}\n`
}

/** The kinds that a key must have in common to be described once for all of them. */
const SEVERAL = 3

function kindParts(name: string, kinds: Keys): string[] {
  const byKind = Object.entries(kinds).map(([kind, { notes }]) => {
    const keys = notes.inside?.kind === 'section' ? Object.entries(notes.inside.keys) : []
    const rows = keys.flatMap(([inner, key]) => (inner === 'kind' ? [] : rowsOf(`${name}.${inner}`, key)))
    return { kind, description: notes.description, rows: withoutRepeats(rows, name) }
  })
  const all = Map.groupBy(
    byKind.flatMap(({ rows }) => rows),
    (row) => JSON.stringify(row),
  )
  // The most frequent form of a key stands for it.
  const byNumber = [...all].toSorted(([, left], [, right]) => right.length - left.length)
  const mostOf = new Map(byNumber.toReversed().map(([row, [first]]) => [first?.key, row]))
  const shared = new Set(
    byNumber.flatMap(([row, same]) => (same.length >= SEVERAL && mostOf.get(same[0]?.key) === row ? [row] : [])),
  )
  const isShared = (row: Row): boolean => shared.has(JSON.stringify(row))
  const sharedRows = [...all.values()].flatMap(([row]) => (row !== undefined && isShared(row) ? [row] : []))
  return [
    ...byKind.map(({ kind, description, rows }) => {
      const common = rows.filter(isShared).map(({ key }) => `\`${key}\``)
      const more =
        common.length === 0 ? '' : ` Also, from [Keys of several kinds](#keys-of-several-kinds): ${common.join(', ')}.`
      const own = rows.filter((row) => !isShared(row))
      return table(`### ${name}.kind: ${kind}\n\n${description}${more}`, own)
    }),
    table('### Keys of several kinds', sharedRows),
    fieldSources(kinds),
  ]
}

/** Describes a key once if it is the same for both lists, and the texts of a list by those of both. */
function withoutRepeats(rows: readonly Row[], name: string): readonly Row[] {
  const ofAll = new Map(rows.map((row) => [row.key, row]))
  const whole = rows.flatMap((row) => {
    const [, list = '', inner = ''] = /^crm\.(events|venues)\.(.+)$/.exec(row.key) ?? []
    if (list === '') return [row]
    const isText = inner.startsWith('texts.') && ofAll.get(`${name}.${inner}`)?.meaning === row.meaning
    const both = isText ? { ...TEXTS, key: `${name}.LIST.texts.KEY` } : { ...row, key: `${name}.LIST.${inner}` }
    if (isText) return [both]
    const other = ofAll.get(`${name}.${list === 'events' ? 'venues' : 'events'}.${inner}`)
    return [
      other !== undefined && JSON.stringify({ ...other, key: '' }) === JSON.stringify({ ...row, key: '' }) ? both : row,
    ]
  })
  return [...new Map(whole.map((row) => [row.key, row])).values()]
}

const TEXTS: Omit<Row, 'key'> = {
  fallback: '`crm.texts`',
  meaning: 'As `crm.texts.KEY`, for one list.',
  allowed: 'the same',
}

function rowsOf(name: string, key: AnyKey): Row[] {
  const { inside } = key.notes
  if (inside?.kind === 'section' && name.endsWith('.fields')) {
    const fallback = Object.values(inside.keys)[0]?.notes.fallback ?? 'required'
    return [
      {
        key: `${name}.FIELD`,
        fallback,
        meaning: 'The source of the field; null drops it.',
        allowed: '[a source](#sources-of-fields)',
      },
    ]
  }
  if (inside?.kind === 'section') {
    return Object.entries(inside.keys).flatMap(([inner, innerKey]) => rowsOf(`${name}.${inner}`, innerKey))
  }
  return inside?.kind === 'list' ? [rowOf(name, key), ...rowsOf(`${name}[]`, inside.item)] : [rowOf(name, key)]
}

/** Describes the sources of fields: those of most kinds, and the fields for which a kind allows others. */
function fieldSources(kinds: Keys): string {
  const lists = new Map<string, Map<string, string[]>>()
  let description = ''
  for (const [kind, { notes }] of Object.entries(kinds)) {
    for (const list of ['events', 'venues']) {
      for (const [field, key] of Object.entries(fieldsOf(notes.inside, list))) {
        description = key.notes.description
        const ofField = lists.get(`${list} ${field}`) ?? new Map<string, string[]>()
        lists.set(`${list} ${field}`, ofField)
        ofField.set(allowedIn(key), [...(ofField.get(allowedIn(key)) ?? []), kind])
      }
    }
  }
  const bySources = Map.groupBy(lists, ([, ofField]) => JSON.stringify([...ofField]))
  const rows = [...bySources.values()].map((same) => {
    const [first] = same
    const sources = [...(first?.[1] ?? [])].toSorted(([, left], [, right]) => right.length - left.length)
    const [usual, ...others] = sources.map(([allowed, of], at) =>
      at === 0 ? allowed : `${of.map((kind) => `\`${kind}\``).join(', ')}: ${allowed}`,
    )
    const names = ['events', 'venues'].flatMap((list) => {
      const fields = same.flatMap(([name]) =>
        name.startsWith(`${list} `) ? [`\`${name.slice(list.length + 1)}\``] : [],
      )
      return fields.length === 0 ? [] : [`${fields.join(', ')} of ${list}`]
    })
    return `| ${[names.join('; '), [usual, ...others].join('. ')].map(escaped).join(' | ')} |`
  })
  const heading = `### Sources of fields\n\n${description} A further field that \`representation.further\` declares is mapped in the same way.`
  return `${heading}\n\n| FIELD | allowed |\n|---|---|\n${rows.join('\n')}\n`
}

function fieldsOf(inside: AnyKey['notes']['inside'], list: string): Keys {
  const block = inside?.kind === 'section' ? inside.keys[list]?.notes.inside : null
  const fields = block?.kind === 'section' ? block.keys['fields']?.notes.inside : null
  return fields?.kind === 'section' ? fields.keys : {}
}

function allowedIn({ notes: { allowed, isNullable } }: AnyKey): string {
  return isNullable ? `${allowed}; or null` : allowed
}

function rowOf(name: string, key: AnyKey): Row {
  const { description: meaning, fallback } = key.notes
  if (meaning === '') throw new Error(`${name} has no description`)
  let allowed = allowedIn(key)
  for (const [words, value] of VALUES)
    allowed = allowed.replace(words, `${words.startsWith('given as') ? 'as a ' : ''}*${value}*`)
  return { key: name, fallback: fallback ?? 'required', meaning, allowed }
}

function table(heading: string, rows: readonly Row[]): string {
  const lines = rows.map(({ key, fallback, meaning, allowed }) => {
    return `| ${[`\`${key}\``, fallback, meaning, allowed].map(escaped).join(' | ')} |`
  })
  return `${heading}\n\n| key | default | meaning | allowed |\n|---|---|---|---|\n${lines.join('\n')}\n`
}

function escaped(cell: string): string {
  return cell.replaceAll('|', '\\|')
}
