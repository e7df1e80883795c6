import { redactUrl } from './redact-url.ts'

const LONGEST = 60

/** Text from a file as a message may carry it: quoted, on one line, without URL passwords, cut where it is long. */
export function showText(text: string): string {
  return JSON.stringify(cut(redactUrl(text))).replace(/[\u007F-\u009F\u2028\u2029\u202A-\u202E\u2066-\u2069]/g, escaped)
}

/** As `showText`, but without quotes where the text is plain: for names of files and keys. */
export function showName(text: string): string {
  return text.length < 200 && /^[\p{L}\p{N} ._/\\:@+~()[\]-]+$/u.test(text) ? redactUrl(text) : showText(text)
}

function cut(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST).toWellFormed()}…` : text
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
