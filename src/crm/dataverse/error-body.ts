import { isObject } from '../mapping/cell.ts'
import { parseCell } from '../mapping/parse-cell.ts'

/** What an error's body says: its code as lower-case hexadecimal where it has one, and its message. */
export interface ErrorBody {
  readonly code: string
  readonly message: string
}

const NONE: ErrorBody = { code: '', message: '' }

export function parseErrorBody(text: string): ErrorBody {
  const parsed = parseCell(text)
  const error = parsed.ok && isObject(parsed.cell) ? parsed.cell['error'] : undefined
  if (error === undefined || !isObject(error)) return NONE
  const { code, message } = error
  return {
    code: typeof code === 'string' ? hexadecimal(code) : typeof code === 'number' ? hexadecimal(String(code)) : '',
    message: typeof message === 'string' ? message : '',
  }
}

/** `-2147204270` and `0x80044352` are one code. */
function hexadecimal(code: string): string {
  const text = code.trim().toLowerCase()
  return /^-?\d+$/.test(text) && text !== '0' ? `0x${(Number(text) >>> 0).toString(16)}` : text
}
