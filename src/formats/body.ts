import { sha1 } from '../domain/sha1.ts'

/**
 * The bytes of a body as a runtime sends them fastest: a text where each character is one byte, which goes out as it lies
 * in memory; else the bytes of UTF-8, which are then not written again for each answer.
 */
export type Body = string | Uint8Array

const encoder = new TextEncoder()

export function bodyOf(text: string): Body {
  return NOT_ASCII.test(text) ? encoder.encode(text) : text
}

/** A copy, where others write over the memory of the given one. */
export function ownBody(body: Body): Body {
  return typeof body === 'string' ? body : new Uint8Array(body)
}

/** The text again. */
export function textOf(body: Body): string {
  return typeof body === 'string' ? body : new TextDecoder().decode(body)
}

const NOT_ASCII = /[^\u0000-\u007f]/

/** The length of every entity tag: 64 bits in hexadecimal, since it is only compared among versions of one resource, and quotes. */
export const ETAG_LENGTH = 18

/** The strong entity tag of a body (RFC 9110 §8.8.3): a function of its bytes alone (contract §1.3). */
export function etagOf(body: Body): string {
  return `"${sha1(body).slice(0, ETAG_LENGTH - 2)}"`
}
