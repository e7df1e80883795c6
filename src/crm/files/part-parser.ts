import { type SaxesTagPlain, SaxesParser } from 'saxes'

/** Far more than any workbook has: beyond, a part was made to be unpacked and not to be read. */
const DEEPEST = 32
const MOST_ATTRIBUTES = 256
/** Excel keeps 32,767 characters in a cell, each of which takes at most seven bytes. */
export const LONGEST_TEXT_BYTES = 256 * 1024

/** Reads an XML part of a workbook by its tags; what is between two tags is told with the second. */
export class PartParser {
  readonly #parser = new SaxesParser<{ xmlns: false; position: false }>({ xmlns: false, position: false })
  #text = ''
  #fault: Error | null = null
  #depth = 0
  #attributes = 0
  /** Of what was fed since the last tag. */
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
    // No workbook has one, and what it can do to whoever reads it is well known.
    parser.on('doctype', () => refuse('a document type is declared'))
    // Thrown, for the parser would go on, and a fault for each byte takes its time.
    parser.on('error', (cause) => {
      throw (this.#fault ??= cause)
    })
  }

  /** What is wrong with the XML so far, of which `text` is the next part; null if nothing is. */
  feed(text: string, bytes: number): Error | null {
    this.#bytes += bytes
    return this.#faultIn((parser) => {
      parser.write(text)
      if (this.#bytes > LONGEST_TEXT_BYTES) parser.fail('more than 256 KB stand between two of its tags')
    })
  }

  /** What is wrong once there is no more. */
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

/** Refuses the part for what is wrong with it. */
export type Refuse = (problem: string) => never

function localName(name: string): string {
  const colon = name.indexOf(':')
  return colon === -1 ? name : name.slice(colon + 1)
}
