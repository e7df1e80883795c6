import { sha1 } from './sha1.ts'

/**
 * The bytes of a body, in the form that a runtime sends fastest: a string if the body is ASCII, because the string is
 * sent without a copy; else UTF-8 bytes, encoded only once.
 */
export type Body = string | Uint8Array

const encoder = new TextEncoder()

export function bodyOf(text: string): Body {
  return NOT_ASCII.test(text) ? encoder.encode(text) : text
}

export function textOf(body: Body): string {
  return typeof body === 'string' ? body : new TextDecoder().decode(body)
}

const NOT_ASCII = /[^\u0000-\u007f]/

/** 64 bits suffice, because a tag is only compared with other versions of the same resource. */
const ETAG_DIGITS = 16

/** Returns the strong entity tag of a body (RFC 9110 §8.8.3), computed from its bytes alone (contract §1.3). */
export function etagOf(body: Body): string {
  return `"${sha1(body).slice(0, ETAG_DIGITS)}"`
}
