import { jsonString } from '../domain/escape.ts'

/** Finished JSON text. A number in it keeps its digits. */
export class WrittenJson {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

export type Json = string | number | boolean | null | WrittenJson | readonly Json[] | JsonObject

export interface JsonObject {
  readonly [name: string]: Json
}

/** Returns the JSON text of a value, on one line, or indented by `indent` per level. */
export function jsonText(value: Json, indent = '', before = ''): string {
  if (value instanceof WrittenJson) return value.text
  if (typeof value === 'string') return jsonString(value)
  if (value === null || typeof value !== 'object') return String(value)
  const inside = before + indent
  const members = isArray(value)
    ? value.map((item) => jsonText(item, indent, inside))
    : Object.entries(value).map(
        ([name, item]) => `${jsonString(name)}:${indent === '' ? '' : ' '}${jsonText(item, indent, inside)}`,
      )
  const [open, close] = isArray(value) ? '[]' : '{}'
  if (members.length === 0 || indent === '') return `${open}${members.join(',')}${close}`
  return `${open}\n${members.map((member) => inside + member).join(',\n')}\n${before}${close}`
}

function isArray(value: readonly Json[] | JsonObject): value is readonly Json[] {
  return Array.isArray(value)
}
