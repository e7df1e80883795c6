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
- Durations are a whole number and a unit: \`500ms\`, \`30s\`, \`15m\`, \`2h\`; at most 576h (24 days). \`0\` needs no unit.
- Sizes are a whole number and a unit: \`KB\`, \`MB\`, \`GB\`, \`TB\` count in thousands, \`KiB\`, \`MiB\`, \`GiB\`, \`TiB\` in 1024s.
- Relative paths are relative to the configuration file.
- Any value may be \`{ env: NAME }\`, an environment variable, or \`{ file: PATH }\`, the text of a file without the newline at its
  end. A variable or a file that is missing or empty is a problem.
- Secrets must be given in one of these two ways, never in the file itself. A URL with a password in it is a secret. Messages show only the name of a
  reference, never its value. Marquee reads a secret's file again when the CRM refuses the secret, so a new secret takes effect
  without a restart. The copy of systemd's LoadCredential is an exception: systemd makes it at the start.
`

/** Generates docs/configuration.md: every key with its default, meaning and allowed values. */
export function configurationPage(): string {
  const general: string[] = []
  const parts: string[] = []
  for (const [name, key] of Object.entries<AnyKey>(KEYS)) {
    const { inside, description } = key.notes
    if (inside?.kind === 'kinds')
      parts.push(
        `## ${name}\n\n${description} Required; \`crm.kind\` decides which other keys there are.\n`,
        ...kindParts(name, inside.kinds),
      )
    else if (inside?.kind === 'section') parts.push(table(`## ${name}\n\n${description}`, rowsOf(name, key)))
    else general.push(...rowsOf(name, key))
  }
  return [INTRODUCTION, table('## At the top', general), ...parts].join('\n')
}

function kindParts(name: string, kinds: Keys): string[] {
  return Object.entries(kinds).map(([kind, { notes }]) => {
    const keys = notes.inside?.kind === 'section' ? Object.entries(notes.inside.keys) : []
    const rows = keys.flatMap(([inner, key]) => (inner === 'kind' ? [] : rowsOf(`${name}.${inner}`, key)))
    return table(`### ${name}.kind: ${kind}\n\n${notes.description}`, rows)
  })
}

function rowsOf(name: string, key: AnyKey): string[] {
  const { inside } = key.notes
  if (inside?.kind === 'section' && name.endsWith('.fields'))
    return foldedFields(name, inside.keys, inside.others !== undefined)
  if (inside?.kind === 'section') {
    return Object.entries(inside.keys).flatMap(([inner, innerKey]) => rowsOf(`${name}.${inner}`, innerKey))
  }
  return inside?.kind === 'list' ? [row(name, key), ...rowsOf(`${name}[]`, inside.item)] : [row(name, key)]
}

/** One row for all fields of a list, with exceptions for fields that allow more. */
function foldedFields(name: string, keys: Keys, hasFurther: boolean): string[] {
  const fields = Object.entries(keys)
  const usual = fields.find(([field]) => field === 'Name')?.[1]
  if (usual === undefined) throw new Error(`${name} has no field Name`)
  const others = Map.groupBy(
    fields.filter(([, key]) => allowedIn(key) !== allowedIn(usual)),
    ([, key]) => allowedIn(key),
  )
  const exceptions = [...others].map(([allowed, of]) => `${of.map(([field]) => `\`${field}\``).join(', ')}: ${allowed}`)
  const names = fields.map(([field]) => `\`${field}\``).join(', ')
  const cells = [
    `\`${name}.FIELD\``,
    usual.notes.fallback ?? 'required',
    `${usual.notes.description} FIELD is one of ${names}${hasFurther ? ', or a further field that `representation.further` declares' : ''}.`,
    [allowedIn(usual), ...exceptions].join('. '),
  ]
  return [`| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`]
}

function allowedIn({ notes: { allowed, isNullable } }: AnyKey): string {
  return isNullable ? `${allowed}; or null` : allowed
}

function row(name: string, key: AnyKey): string {
  const { description, fallback } = key.notes
  if (description === '') throw new Error(`${name} has no description`)
  const cells = [`\`${name}\``, fallback ?? 'required', description, allowedIn(key)]
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

function table(heading: string, rows: readonly string[]): string {
  return `${heading}\n\n| key | default | meaning | allowed |\n|---|---|---|---|\n${rows.join('\n')}\n`
}
