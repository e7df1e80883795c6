import { type SaxesTagPlain, SaxesParser } from 'saxes'

/** Limits far above any real workbook's; beyond them, a part was made to exhaust memory. */
const DEEPEST = 32
const MOST_ATTRIBUTES = 256
/** Excel allows 32,767 characters in a cell, each of at most seven bytes. */
export const LONGEST_TEXT_BYTES = 256 * 1024

/** Why a part of a workbook is rejected. */
export class RefusedPart extends Error {}

export function refuse(problem: string): never {
  throw new RefusedPart(problem)
}

/**
 * Parses an XML part of a workbook tag by tag. The text between two tags is passed with the second. Throws a
 * `RefusedPart` at the first fault.
 */
export class PartParser {
  readonly #parser = new SaxesParser<{ xmlns: false; position: false }>({ xmlns: false, position: false })
  #text = ''
  #depth = 0
  #attributes = 0
  /** Bytes fed since the last tag. */
  #bytes = 0
  /** Whether the parser is in a phonetic guide of a Japanese text, which is skipped. */
  #isGuide = false

  constructor(
    onOpen: (name: string, attributes: SaxesTagPlain['attributes']) => void,
    onClose: (name: string, text: string) => void = () => {},
  ) {
    const parser = this.#parser
    const take = (text: string): void => {
      this.#text += text
    }
    parser.on('attribute', () => {
      if (++this.#attributes > MOST_ATTRIBUTES) refuse(`an element has more than ${MOST_ATTRIBUTES} attributes`)
    })
    parser.on('opentag', ({ name, attributes }) => {
      if (++this.#depth > DEEPEST) refuse(`its elements are nested more than ${DEEPEST} deep`)
      this.#attributes = this.#bytes = 0
      this.#text = ''
      const local = localName(name)
      this.#isGuide ||= local === 'rPh'
      if (!this.#isGuide) onOpen(local, attributes)
    })
    parser.on('text', take)
    parser.on('cdata', take)
    parser.on('closetag', ({ name }) => {
      this.#depth--
      this.#bytes = 0
      const local = localName(name)
      if (!this.#isGuide) onClose(local, this.#text)
      if (local === 'rPh') this.#isGuide = false
      this.#text = ''
    })
    // No workbook has a document type, and entity declarations are a known attack.
    parser.on('doctype', () => refuse('a document type is declared'))
    // Throw at the first fault: the parser would go on and report one for each byte.
    parser.on('error', ({ message }) => refuse(message))
  }

  feed(text: string, bytes: number): void {
    this.#bytes += bytes
    this.#parser.write(text)
    if (this.#bytes > LONGEST_TEXT_BYTES) refuse('it has more than 256 KB between two tags')
  }

  finish(): void {
    this.#parser.close()
  }
}

function localName(name: string): string {
  const colon = name.indexOf(':')
  return colon === -1 ? name : name.slice(colon + 1)
}
