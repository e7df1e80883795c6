import { z } from 'zod'
import { configurationSchema } from '../src/config/configuration.ts'
import type { Peeled } from '../src/config/peel-schema.ts'
import { peelSchema } from '../src/config/peel-schema.ts'

const INTRODUCTION = `# Configuration

<!-- Written by scripts/configuration-docs.ts from the schema in src/config; edit that. -->

One YAML file (so JSON too), UTF-8, of at most 1 MB. \`marquee serve\`, \`check\` and the other commands take the file that
\`--config\` names, else the one that \`MARQUEE_CONFIG\` names, else \`./marquee.yaml\`, else the sample that ships with Marquee.

- Every key has a default but those of the chosen CRM. The smallest configuration is

  \`\`\`yaml
  crm:
    kind: files
    directory: ./crm
  \`\`\`

- Unknown keys are refused. All problems are told together, each with its line:

  \`\`\`
  marquee.yaml:3: freshness.bonud is not a known key; did you mean bound?
  marquee.yaml:5: listen.port is "http"; it must be a whole number from 0 to 65535
  \`\`\`

- Durations are a whole number and a unit: \`500ms\`, \`30s\`, \`15m\`, \`2h\`; at most 365 days. \`0\` needs no unit.
- Sizes are a whole number and a unit: \`KB\`, \`MB\`, \`GB\`, \`TB\` count in thousands, \`KiB\`, \`MiB\`, \`GiB\`, \`TiB\` in 1024s.
- Relative paths are relative to the configuration file.
- Any value may be \`{ env: NAME }\`, an environment variable, or \`{ file: PATH }\`, the text of a file without the newline at its
  end. A variable that is not set, or empty, is a problem, as is a file that cannot be read or is empty.
- Secrets must be given so, never in the file itself; a URL with a password in it is a secret. No message shows what a reference
  holds, only its name. A secret's file is read again when the CRM refuses the secret, so that rotation needs no restart.
`

/** The page an operator reads: every key with its default, its meaning and what is allowed. */
export function configurationPage(): string {
  const general: string[] = []
  const parts: string[] = []
  for (const [key, schema] of Object.entries(configurationSchema.shape)) {
    const peeled = peelSchema(schema)
    if (key === 'crm') parts.push(...crmParts(peeled))
    else if (peeled.core instanceof z.ZodObject) parts.push(part(`## ${key}`, peeled, rowsOf(peeled.core, key)))
    else general.push(row(key, peeled))
  }
  return [INTRODUCTION, table('## At the top', general), ...parts].join('\n')
}

function crmParts(crm: Peeled): string[] {
  if (!(crm.core instanceof z.ZodDiscriminatedUnion)) throw new Error('crm must be told apart by its kind')
  const kinds = crm.core.options.map((option) => {
    const peeled = peelSchema(option)
    if (!(peeled.core instanceof z.ZodObject)) throw new Error('a kind of CRM must be an object')
    const { kind, ...shape } = peeled.core.shape
    const literal = kind instanceof z.ZodLiteral ? String(kind.value) : ''
    return part(`### crm.kind: ${literal}`, peeled, rowsOf(z.strictObject(shape), 'crm'))
  })
  return [`## crm\n\n${crm.description ?? ''} Required; \`crm.kind\` decides which other keys there are.\n`, ...kinds]
}

function rowsOf(object: z.ZodObject, prefix: string): string[] {
  return Object.entries<z.core.$ZodType>(object.shape).flatMap(([name, schema]) => {
    const key = `${prefix}.${name}`
    const peeled = peelSchema(schema)
    if (peeled.core instanceof z.ZodObject) return rowsOf(peeled.core, key)
    if (!(peeled.core instanceof z.ZodArray)) return [row(key, peeled)]
    const element = peelSchema(peeled.core.element)
    const inner = element.core instanceof z.ZodObject ? rowsOf(element.core, `${key}[]`) : []
    return [row(key, { ...peeled, allowed: 'a list' }), ...inner]
  })
}

function row(key: string, peeled: Peeled): string {
  const { description, allowed, isNullable } = peeled
  if (description === null || allowed === null) throw new Error(`${key} has no description`)
  const cells = [`\`${key}\``, presetOf(peeled), description, isNullable ? `${allowed}; or null` : allowed]
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

function presetOf({ shown, preset, isOptional }: Peeled): string {
  if (shown !== null) return shown
  if (preset !== undefined) return `\`${typeof preset === 'string' ? preset : JSON.stringify(preset)}\``
  return isOptional ? 'none' : 'required'
}

function part(heading: string, { description }: Peeled, rows: readonly string[]): string {
  return table(`${heading}\n\n${description ?? ''}`, rows)
}

function table(heading: string, rows: readonly string[]): string {
  return `${heading}\n\n| key | default | meaning | allowed |\n|---|---|---|---|\n${rows.join('\n')}\n`
}
