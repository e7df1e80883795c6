import type { ErrorCode, YAMLError } from 'yaml'
import { Lexer, LineCounter, parseDocument } from 'yaml'
import type { MapTree, Say } from './tree.ts'
import { plantTree } from './tree.ts'

const MOST_TOKENS = 100_000
const MOST_FAULTS = 5

/** The one YAML 1.2 document in the text, with the line of each value; an empty text is an empty mapping, null one that cannot be read. */
export function parseYaml(text: string, say: Say): MapTree | null {
  const control = /[\0-\x08\x0B\x0C\x0E-\x1F\x7F]/.exec(text)
  if (control !== null) {
    const code = control[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')
    say(lineOf(text, control.index), `holds a control character (U+${code})`)
    return null
  }
  if (!isModest(text)) {
    say(null, `is no configuration: it has more than ${MOST_TOKENS} words and signs`)
    return null
  }
  const lines = new LineCounter()
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    // Its own search is quadratic; plantTree finds them.
    uniqueKeys: false,
    version: '1.2',
    schema: 'core',
    merge: false,
    resolveKnownTags: false,
    // With 'silent' it would take a second document for nothing.
    logLevel: 'error',
  })
  const faults = [...document.errors, ...document.warnings]
  if (faults.length > 0) {
    saySyntax(faults.slice(0, MOST_FAULTS), lines, say)
    return null
  }
  return plantTree(document.contents, lines, say)
}

/** Junk of a megabyte would keep the parser busy for many seconds; the lexer alone is quick. */
function isModest(text: string): boolean {
  let count = 0
  for (const _ of new Lexer().lex(text)) {
    count++
    if (count > MOST_TOKENS) return false
  }
  return true
}

function saySyntax(faults: readonly YAMLError[], lines: LineCounter, say: Say): void {
  const said = new Set<string>()
  for (const { pos, code } of faults) {
    const { line, col } = lines.linePos(pos[0])
    const message = `is not valid YAML at column ${col}: ${FAULTS[code]}`
    if (!said.has(`${line} ${message}`)) say(line, message)
    said.add(`${line} ${message}`)
  }
}

function lineOf(text: string, index: number): number {
  let line = 1
  for (let at = text.indexOf('\n'); at !== -1 && at < index; at = text.indexOf('\n', at + 1)) line++
  return line
}

/** What a syntax error means, in words of ours: the parser's own messages quote the file, which may hold secrets. */
const FAULTS: Readonly<Record<ErrorCode, string>> = {
  ALIAS_PROPS: 'an alias (*name) must stand alone',
  BAD_ALIAS: 'an alias (*name) has no anchor (&name) before it; text that begins with * needs quotes',
  BAD_COLLECTION_TYPE: 'a tag does not fit its value',
  BAD_DIRECTIVE: 'a directive (%…) is unknown',
  BAD_DQ_ESCAPE: 'an escape (\\…) in double quotes is unknown; write \\\\ for a backslash, or use single quotes',
  BAD_INDENT: 'the indentation does not fit the lines around it',
  BAD_PROP_ORDER: 'an anchor or tag stands in the wrong place',
  BAD_SCALAR_START: 'text that begins with a reserved character (@ or `) needs quotes',
  BLOCK_AS_IMPLICIT_KEY:
    'a mapping or list begins where it cannot; text that holds ": " or begins with "- " needs quotes',
  BLOCK_IN_FLOW: 'inside { } or [ ] only values on lines without - or indented keys are allowed',
  DUPLICATE_KEY: 'a key is given twice',
  IMPOSSIBLE: 'it cannot be read',
  KEY_OVER_1024_CHARS: 'a key is longer than 1024 characters',
  MISSING_CHAR: 'a colon, comma, closing quote or closing bracket is missing',
  MULTILINE_IMPLICIT_KEY: 'a key must be on one line; a colon may be missing after it',
  MULTIPLE_ANCHORS: 'a value has two anchors',
  MULTIPLE_DOCS: 'only one document is allowed; remove what follows the second ---',
  MULTIPLE_TAGS: 'a value has two tags',
  NON_STRING_KEY: 'a key must be text',
  RESOURCE_EXHAUSTION: 'it is nested too deeply',
  TAB_AS_INDENT: 'a tab is used for indentation; use spaces',
  TAG_RESOLVE_FAILED: 'tags (!…) are not used here; text that begins with ! needs quotes',
  UNEXPECTED_TOKEN: 'something stands where it cannot; check the quotes, colons and brackets',
}
