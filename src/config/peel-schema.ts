import { z } from 'zod'

/** A schema without its wrappers, and what they say about it. */
export interface Peeled {
  /** An object, an array, a union, a literal, or `unknown` for a leaf. */
  readonly core: z.core.$ZodType
  readonly description: string | null
  /** Completes `must be …`; null where the core says it. */
  readonly allowed: string | null
  /** The default as one writes it; undefined where there is none. */
  readonly preset: unknown
  /** The default in words, where it is none that can be written. */
  readonly shown: string | null
  readonly isNullable: boolean
  readonly isOptional: boolean
}

export function peelSchema(schema: z.core.$ZodType): Peeled {
  let core = schema
  let description: string | null = null
  let allowed: string | null = null
  let preset: unknown
  let shown: string | null = null
  let isNullable = false
  let isOptional = false
  for (;;) {
    const meta = z.globalRegistry.get(core)
    description ??= meta?.description ?? null
    allowed ??= wordOf(meta?.['allowed'])
    shown ??= wordOf(meta?.['shown'])
    if (core instanceof z.ZodPrefault) {
      preset = core.def.defaultValue
      core = core.def.innerType
    } else if (core instanceof z.ZodNullable) {
      isNullable = true
      core = core.def.innerType
    } else if (core instanceof z.ZodOptional) {
      isOptional = true
      core = core.def.innerType
    } else if (core instanceof z.ZodPipe) {
      core = core.def.in
    } else {
      return { core, description, allowed, preset, shown, isNullable, isOptional }
    }
  }
}

/** The keys a mapping of this schema may have, and their schemas; null where it takes no mapping. */
export function shapeOf(schema: z.core.$ZodType, raw: unknown): Readonly<Record<string, z.core.$ZodType>> | null {
  const { core } = peelSchema(schema)
  if (core instanceof z.ZodObject) return core.shape
  if (core instanceof z.ZodDiscriminatedUnion) {
    const kind = valueAt(raw, 'kind')
    const chosen = core.options.find((option) => kindOf(option) === kind)
    return chosen === undefined ? null : shapeOf(chosen, raw)
  }
  return null
}

/** The kinds a union told apart by `kind` knows. */
export function kindsOf(union: z.core.$ZodType): readonly string[] {
  const { core } = peelSchema(union)
  return core instanceof z.ZodDiscriminatedUnion ? core.options.map(kindOf).filter((kind) => kind !== null) : []
}

function kindOf(block: z.core.$ZodType): string | null {
  const literal: unknown = block instanceof z.ZodObject ? block.shape['kind'] : undefined
  if (!(literal instanceof z.ZodLiteral)) return null
  return wordOf(literal.value)
}

/** The schema at a path, by what stands there; null where the path leaves the schema. */
export function schemaAt(schema: z.core.$ZodType, path: readonly PropertyKey[], raw: unknown): z.core.$ZodType | null {
  let here: z.core.$ZodType | null = schema
  let value = raw
  for (const step of path) {
    here = here === null ? null : stepInto(here, step, value)
    value = valueAt(value, step)
  }
  return here
}

function stepInto(schema: z.core.$ZodType, step: PropertyKey, raw: unknown): z.core.$ZodType | null {
  const { core } = peelSchema(schema)
  if (core instanceof z.ZodArray) return core.element
  const shape = shapeOf(core, raw)
  return shape !== null && typeof step === 'string' && Object.hasOwn(shape, step) ? (shape[step] ?? null) : null
}

/** The own member of a plain value; undefined where there is none. */
export function valueAt(value: unknown, step: PropertyKey): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined
  return Reflect.get(value, step)
}

function wordOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
