import { Buffer, isUtf8 } from 'node:buffer'
import { openDecoder } from '../domain/encoding.ts'

/** The encoding of a file; `sure` is `null` if its bytes do not decide between the candidates. */
export interface Encoding {
  readonly sure: string | null
  readonly candidates: readonly { readonly label: string; readonly word: string }[]
}

export const UTF_8: Encoding = { sure: 'utf-8', candidates: [] }

const LABELS = [
  'windows-1252',
  'windows-1250',
  'windows-1251',
  'windows-1253',
  'windows-1254',
  'windows-1257',
  'iso-8859-2',
  'iso-8859-15',
  'macintosh',
]

/**
 * Detects the encoding. One-byte encodings can only be told apart by their results: if all plausible ones give the same
 * words, the result is sure.
 */
export function encodingOf(bytes: Buffer): Encoding {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return { sure: 'utf-16le', candidates: [] }
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return { sure: 'utf-16be', candidates: [] }
  if (isUtf8(bytes)) return UTF_8
  const written = wordsIn(bytes)
  const read = LABELS.map((label) => {
    const decoder = openDecoder(label, false)
    const words = written.map((word) => decoder?.decode(word) ?? '')
    // The same byte may be a blank in one encoding and a letter in another.
    return { label, words, isLikely: words.every((word) => word.split(/\s+/u).every(isWord)) }
  })
  const likely = read.filter(({ isLikely }) => isLikely)
  const labels = likely.map(({ label }) => label)
  const isSure =
    WESTERN_AND_CENTRAL.every((label) => labels.includes(label)) &&
    likely.every(({ words }) => words.every((word, index) => word === likely[0]?.words[index]))
  if (isSure)
    return { sure: 'windows-1252', candidates: likely.map(({ label, words }) => ({ label, word: words[0] ?? '' })) }
  // Show an implausible result next to the plausible ones, for comparison.
  const unlikely = read.filter(({ isLikely }) => !isLikely)
  const known = [...likely, ...unlikely.slice(0, Math.max(1, 3 - likely.length))]
  const at = tellingWord(likely.map(({ words }) => words)) ?? tellingWord(known.map(({ words }) => words)) ?? 0
  const shown = new Map<string, string>()
  for (const { label, words } of known) {
    const word = words[at] ?? ''
    if (!shown.has(word)) shown.set(word, label)
  }
  return { sure: null, candidates: Array.from(shown, ([word, label]) => ({ label, word })) }
}

/** Finds the word that the encodings decode in the most ways, the longest of several; `null` if all decode alike. */
function tellingWord(read: readonly (readonly string[])[]): number | null {
  const words = (read[0] ?? []).map((word, index) => {
    return { index, length: word.length, ways: new Set(read.map((one) => one[index])).size }
  })
  const [best] = words.toSorted((left, right) => right.ways - left.ways || right.length - left.length)
  return best === undefined || best.ways === 1 ? null : best.index
}

const MOST_WORDS = 10_000
const LONGEST_WORD = 80
/** Bytes that separate words in most encodings, including the no-break space. */
const BETWEEN = new Set(Buffer.from('\0\t\n\v\f\r ,;|"\xa0', 'latin1'))

/** Returns the distinct words that contain a non-ASCII byte. */
function wordsIn(bytes: Buffer): readonly Buffer[] {
  const words = new Map<string, Buffer>()
  let begin = 0
  let isOther = false
  for (let at = 0; at <= bytes.length && words.size < MOST_WORDS; at++) {
    const byte = bytes[at]
    if (byte !== undefined && !BETWEEN.has(byte)) {
      isOther ||= byte > 0x7f
      continue
    }
    const word = bytes.subarray(begin, Math.min(at, begin + LONGEST_WORD))
    if (isOther) words.set(word.toString('latin1'), word)
    begin = at + 1
    isOther = false
  }
  return [...words.values()]
}

/** The encodings of most of Europe. Text that both decode alike is very likely right. */
const WESTERN_AND_CENTRAL = ['windows-1252', 'windows-1250']

/**
 * Returns true if a word is plausible: no control characters, no sign or capital among small letters, no letter right
 * after a digit, no single capital, only one script.
 */
function isWord(word: string): boolean {
  if (/[\p{C}\ufffd]/u.test(word)) return false
  if (/\p{L}(?!['’‘´`–-])[^\p{ASCII}\p{L}\p{M}]\p{L}/u.test(word) || /\p{Ll}(?=[^\p{ASCII}])\p{Lu}/u.test(word))
    return false
  if (/^\p{Lu}$/u.test(word) || /\d(?=[^\p{ASCII}])\p{L}/u.test(word)) return false
  return SCRIPTS.filter((script) => script.test(word)).length <= 1
}

const SCRIPTS = [/\p{Script=Latin}/u, /\p{Script=Cyrillic}/u, /\p{Script=Greek}/u]
