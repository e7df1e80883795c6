import type { Configuration, Written } from './configuration.ts'
import { configurationSchema } from './configuration.ts'
import { crmConfiguration } from './crm/kinds.ts'
import { deepFreeze } from './deep-freeze.ts'
import { fillEmpty } from './fill-empty.ts'
import { generalSchema } from './general.ts'
import { kindsOf, valueAt } from './peel-schema.ts'
import type { Problem } from './problem.ts'
import { keyOf } from './problem.ts'
import type { Fault } from './problems-of.ts'
import { faultsOf, problemOf } from './problems-of.ts'
import { Referenced } from './reference.ts'
import { RULES } from './rules.ts'
import type { Settings } from './rules.ts'
import type { Tree } from './tree.ts'
import { warningsOf } from './warnings.ts'

export interface Unchecked {
  readonly raw: unknown
  readonly tree: Tree
  readonly file: string
  readonly absolute: (relative: string) => string
  /** What was wrong before the schema was asked. */
  readonly reported: readonly Problem[]
}

export type CheckedConfiguration =
  | { readonly ok: true; readonly configuration: Configuration; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly problems: readonly Problem[] }

/** Holds the values against the schema and then against the rules between keys. */
export function checkConfiguration({ raw, tree, file, absolute, reported }: Unchecked): CheckedConfiguration {
  const given = withKindInPlain(fillEmpty(raw, configurationSchema))
  const parsed = configurationSchema.safeParse(given)
  const faults = parsed.success ? [] : faultsOf(parsed.error.issues, configurationSchema, given)
  const wrong = [...(parsed.error?.issues ?? []).map((issue) => issue.path), ...faults.map((fault) => fault.path)]
  const settings = parsed.success ? settingsOf(parsed.data) : soundSettings(given, wrong)
  const broken = brokenRules(settings, new Set([...wrong.map(keyOf), ...reported.map((problem) => problem.key)]))
  const problems = [...reported, ...[...faults, ...broken].map((fault) => problemOf(fault, tree, file))]
  if (!parsed.success || problems.length > 0) return { ok: false, problems }
  const { crm, ...general } = parsed.data
  const configuration = deepFreeze({ ...general, crm: crmConfiguration(crm, general, absolute) })
  return { ok: true, configuration, warnings: warningsOf(configuration) }
}

function settingsOf({ crm, ...general }: Written): Settings {
  return { general, crm }
}

/** What the file would set without the keys that are wrong, so that the rules are asked about the rest at once. */
function soundSettings(given: unknown, wrong: readonly (readonly PropertyKey[])[]): Settings {
  const sound: Record<PropertyKey, unknown> = { ...(typeof given === 'object' ? given : {}) }
  for (const [section, keys] of keysBySection(wrong)) {
    const inner = sound[section]
    const isWhole = keys.has(null) || typeof inner !== 'object' || inner === null || Array.isArray(inner)
    if (isWhole) Reflect.deleteProperty(sound, section)
    else sound[section] = Object.fromEntries(Object.entries(inner).filter(([key]) => !keys.has(key)))
  }
  const { crm, ...general } = sound
  return { general: generalSchema.parse(general), crm: configurationSchema.shape.crm.safeParse(crm).data ?? null }
}

/** The wrong keys of each section; null among them where the section itself is wrong. */
function keysBySection(wrong: readonly (readonly PropertyKey[])[]): Map<PropertyKey, Set<PropertyKey | null>> {
  const sections = new Map<PropertyKey, Set<PropertyKey | null>>()
  for (const [section, key = null] of wrong) {
    if (section === undefined) continue
    const keys = sections.get(section) ?? new Set()
    sections.set(section, keys.add(key))
  }
  return sections
}

function brokenRules(settings: Settings, wrongKeys: ReadonlySet<string>): Fault[] {
  return RULES.flatMap(({ reads, check }) => {
    const broken = reads.some((key) => wrongKeys.has(key)) ? null : check(settings)
    if (broken === null) return []
    const { key, because, message } = broken
    return [{ path: key.split('.'), because: because.split('.'), found: null, message }]
  })
}

/** The kind decides which keys are known, so the schema must see its text even where `{ env }` gave it. */
function withKindInPlain(raw: unknown): unknown {
  const crm = valueAt(raw, 'crm')
  const kind = valueAt(crm, 'kind')
  if (!(kind instanceof Referenced) || typeof raw !== 'object' || typeof crm !== 'object') return raw
  const text = kind.text.trim()
  // Any other text stays hidden behind its reference.
  return kindsOf(configurationSchema.shape.crm).includes(text) ? { ...raw, crm: { ...crm, kind: text } } : raw
}
