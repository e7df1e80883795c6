import type { ErrorCode } from 'yaml'

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

export function yamlFault(code: ErrorCode): string {
  return FAULTS[code]
}
