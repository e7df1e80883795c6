import { type SaxesTagPlain, SaxesParser } from 'saxes'

/** Limits far above any real workbook's; beyond them, a part was made to exhaust memory. */
const DEEPEST = 32
const MOST_ATTRIBUTES = 256
/** Excel allows 32,767 characters in a cell, each of at most seven bytes. */
export const LONGEST_TEXT_BYTES = 256 * 1024

/** Parses an XML part of a workbook tag by tag. The text between two tags is passed with the second. */
export class PartParser {
  readonly #parser = new SaxesParser<{ xmlns: false; position: false }>({ xmlns: false, position: false })
  #text = ''
  #fault: Error | null = null
  #depth = 0
  #attributes = 0
  /** Bytes fed since the last tag. */
  #bytes = 0

  constructor(
    onOpen: (name: string, attributes: SaxesTagPlain['attributes'], refuse: Refuse) => void,
    onClose: (name: string, text: string, refuse: Refuse) => void = () => {},
  ) {
    const parser = this.#parser
    const refuse: Refuse = (problem) => {
      throw (this.#fault ??= new Error(problem))
    }
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
      onOpen(localName(name), attributes, refuse)
    })
    parser.on('text', take)
    parser.on('cdata', take)
    parser.on('closetag', ({ name }) => {
      this.#depth--
      this.#bytes = 0
      onClose(localName(name), this.#text, refuse)
      this.#text = ''
    })
    // No workbook has a document type, and entity declarations are a known attack.
    parser.on('doctype', () => refuse('a document type is declared'))
    // Throw at the first fault: the parser would go on and report one for each byte.
    parser.on('error', (cause) => {
      throw (this.#fault ??= cause)
    })
  }

  /** Parses the next piece of the text. Returns the first fault; `null` if there is none. */
  feed(text: string, bytes: number): Error | null {
    this.#bytes += bytes
    return this.#faultIn((parser) => {
      parser.write(text)
      if (this.#bytes > LONGEST_TEXT_BYTES) parser.fail('it has more than 256 KB between two tags')
    })
  }

  /** Ends the parse. Returns the first fault; `null` if there is none. */
  finish(): Error | null {
    return this.#faultIn((parser) => parser.close())
  }

  #faultIn(parse: (parser: SaxesParser<{ xmlns: false; position: false }>) => void): Error | null {
    if (this.#fault !== null) return this.#fault
    try {
      parse(this.#parser)
    } catch (cause) {
      if (cause !== this.#fault) throw new Error('a part of a workbook cannot be read', { cause })
    }
    return this.#fault
  }
}

/** Rejects the part with a reason. */
export type Refuse = (problem: string) => never

function localName(name: string): string {
  const colon = name.indexOf(':')
  return colon === -1 ? name : name.slice(colon + 1)
}
