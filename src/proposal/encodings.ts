import { Buffer, isUtf8 } from 'node:buffer'
import { openDecoder } from '../domain/encoding.ts'

/** The encoding of a file. */
export interface Encoding {
  /** `null` if the bytes do not decide between several. */
  readonly sure: string | null
  /** What a word of the file is in each of these. */
  readonly candidates: readonly { readonly label: string; readonly word: string }[]
}

export const UTF_8: Encoding = { sure: 'utf-8', candidates: [] }

/** The most common encoding of a byte per letter. A file is examined in it until the question is answered. */
export const USUAL = 'windows-1252'

/** The encoding of Eastern Central Europe. */
export const CENTRAL = 'windows-1250'

const LABELS = [USUAL, CENTRAL, 'windows-1251', 'windows-1253', 'windows-1254', 'windows-1257', 'macintosh']

/** Detects the encoding. If it has a byte per letter, only a person can tell which result is right. */
export function encodingOf(bytes: Buffer): Encoding {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return { sure: 'utf-16le', candidates: [] }
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return { sure: 'utf-16be', candidates: [] }
  if (isUtf8(bytes)) return UTF_8
  const written = longestWord(bytes)
  if (written === null) return { sure: USUAL, candidates: [] }
  const shown = new Map<string, string>()
  for (const label of LABELS) {
    const word = decoded(written, label)
    if (!shown.has(word) && !/[\p{C}\ufffd]/u.test(word)) shown.set(word, label)
  }
  return { sure: null, candidates: Array.from(shown, ([word, label]) => ({ label, word })) }
}

function decoded(bytes: Uint8Array, label: string): string {
  return openDecoder(label, false)?.decode(bytes) ?? ''
}

const UPPER_HALF = Uint8Array.from({ length: 128 }, (_, index) => index + 128)
const [IN_USUAL, IN_CENTRAL] = [decoded(UPPER_HALF, USUAL), decoded(UPPER_HALF, CENTRAL)]

/** The bytes below 0xa0, where a Mac has most of its letters, that are such in the usual encoding. */
function low(signs: RegExp): ReadonlySet<number> {
  return new Set([...UPPER_HALF].filter((byte, at) => byte < 0xa0 && signs.test(IN_USUAL.charAt(at))))
}

/** The bytes that leave the encoding open. */
const TELLING = new Set([...[...UPPER_HALF].filter((_, at) => IN_USUAL[at] !== IN_CENTRAL[at]), ...low(/\p{L}/u)])

/** As `TELLING`, if a letter follows: `…` is Ö on a Mac. Quotes and dashes are usual there. */
const TELLING_BEFORE_LETTER = low(/[^\p{L}\p{Ps}\p{Pi}\p{Pf}\p{Pd}]/u)

const LONGEST_WORD = 80
/** Bytes that separate words in most encodings, including the no-break space. */
const BETWEEN = new Set(Buffer.from('\0\t\n\v\f\r ,;|"\xa0', 'latin1'))

/** Returns the longest word that leaves the encoding open; `null` if no word does. */
function longestWord(bytes: Buffer): Buffer | null {
  let longest: Buffer | null = null
  let begin = 0
  let tells = false
  for (let at = 0; at <= bytes.length; at++) {
    const byte = bytes[at]
    if (byte !== undefined && !BETWEEN.has(byte)) {
      tells ||= TELLING.has(byte) || (TELLING_BEFORE_LETTER.has(byte) && isLetter(bytes[at + 1]))
      continue
    }
    const length = Math.min(at - begin, LONGEST_WORD)
    if (tells && length > (longest?.length ?? 0)) longest = bytes.subarray(begin, begin + length)
    begin = at + 1
    tells = false
  }
  return longest
}

function isLetter(byte = 0): boolean {
  return /[a-z]/i.test(String.fromCharCode(byte))
}
