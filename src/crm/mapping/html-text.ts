import { Parser } from 'htmlparser2'
import { trimWhiteSpace } from '../../domain/white-space.ts'

/** Returns the text of HTML; `null` if it cannot be read. */
export type HtmlText = (html: string) => string | null

/** Elements that a browser shows on lines of their own. */
const BLOCKS: ReadonlySet<string> = new Set(
  'address article aside blockquote body center dd details dialog div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol option p pre search section summary table tbody tfoot thead title tr ul caption'.split(
    ' ',
  ),
)
/** Elements whose content is not text for people. */
const UNSEEN: ReadonlySet<string> = new Set(['script', 'style', 'template', 'noscript', 'iframe'])
const CELLS: ReadonlySet<string> = new Set(['td', 'th'])
/** The deepest nesting of elements. The parser takes more than linear time for deeper ones, which no editor writes. */
const DEEPEST = 500

/**
 * Returns the text of HTML as a browser shows it, with a line break for each `br` and at the end of each block element
 * (contract §7); `null` if its elements are nested deeper than any editor nests them.
 */
export function htmlText(html: string): string | null {
  const lines = new Lines()
  let depth = 0
  let unseen = 0
  let preformatted = 0
  let isTooDeep = false
  const parser = new Parser({
    onopentagname(name) {
      depth++
      if (depth > DEEPEST) {
        isTooDeep = true
        parser.pause()
      }
      if (UNSEEN.has(name)) unseen++
      if (name === 'pre') preformatted++
      if (BLOCKS.has(name)) lines.endText()
      else if (CELLS.has(name)) lines.space()
    },
    ontext(text) {
      if (unseen > 0) return
      if (preformatted > 0) lines.addAsIs(text)
      else lines.add(text)
    },
    onclosetag(name) {
      depth--
      if (UNSEEN.has(name)) unseen--
      if (name === 'pre') preformatted--
      if (name === 'br' || BLOCKS.has(name)) lines.break()
    },
  })
  parser.end(html)
  return isTooDeep ? null : lines.text
}

/** The white space that HTML collapses. It does not include the no-break space. */
const COLLAPSED = /[ \t\n\r\f]+/

/** The lines of a text, without white space at their ends. */
class Lines {
  #text = ''
  #hasSpace = false

  add(text: string): void {
    for (const [index, word] of text.split(COLLAPSED).entries()) {
      if (index > 0) this.#hasSpace = true
      if (word === '') continue
      this.#text += (this.#hasSpace && !this.#isAtStart ? ' ' : '') + word
      this.#hasSpace = false
    }
  }

  addAsIs(text: string): void {
    this.#text += (this.#hasSpace && !this.#isAtStart ? ' ' : '') + text.replaceAll(/\r\n?/g, '\n')
    this.#hasSpace = false
  }

  space(): void {
    this.#hasSpace = true
  }

  break(): void {
    this.#text += '\n'
    this.#hasSpace = false
  }

  /** Begins a new line unless there is one: a block element stands apart from the text before it. */
  endText(): void {
    if (!this.#isAtStart) this.break()
  }

  get #isAtStart(): boolean {
    return this.#text === '' || this.#text.endsWith('\n')
  }

  get text(): string {
    return trimWhiteSpace(this.#text.replaceAll(/\n{3,}/g, '\n\n'))
  }
}
