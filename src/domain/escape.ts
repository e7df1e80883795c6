const JSON_SPECIAL = /["\\\u0000-\u001f\u0085\u2028\u2029\ud800-\udfff]/
/** Characters that JSON.stringify does not escape and the reference does. */
const JSON_BREAKS = Object.entries({ '\u0085': '\\u0085', '\u2028': '\\u2028', '\u2029': '\\u2029' })

/** Returns the JSON string of `text` with its quotes, with the same escapes as the reference (contract §3.2). */
export function jsonString(text: string): string {
  if (!JSON_SPECIAL.test(text)) return `"${text}"`
  let json = JSON.stringify(text.toWellFormed())
  // One character at a time: a callback for each match takes a hundred times as long.
  for (const [character, written] of JSON_BREAKS) {
    if (json.includes(character)) json = json.split(character).join(written)
  }
  return json
}

const XML_TEXT_SPECIAL = /[&<>\r\u0000-\u0008\u000b\u000c\u000e-\u001f\ud800-\udfff\ufffe\uffff]/
const XML_ATTRIBUTE_SPECIAL = /[&<>"\u0000-\u001f\ud800-\udfff\ufffe\uffff]/

type Entities = readonly (string | undefined)[]

/**
 * Returns a table by character code. Characters that XML 1.0 cannot represent even as references (§2.2, Char) become
 * U+FFFD.
 */
function entitiesOf(entities: Readonly<Record<string, string>>): Entities {
  const carried = [0x09, 0x0a, 0x0d]
  const table = Array.from({ length: 0x40 }, (_, code): string | undefined =>
    code < 0x20 && !carried.includes(code) ? '\ufffd' : undefined,
  )
  for (const [character, entity] of Object.entries(entities)) table[character.charCodeAt(0)] = entity
  return table
}

const IN_TEXT = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '\r': '&#xD;' }
const TEXT_ENTITIES = entitiesOf(IN_TEXT)
const ATTRIBUTE_ENTITIES = entitiesOf({ ...IN_TEXT, '"': '&quot;', '\t': '&#x9;', '\n': '&#xA;' })

/**
 * Returns `text` as the content of an XML element. Characters that XML cannot represent become U+FFFD (contract §3.2).
 */
export function xmlText(text: string): string {
  return XML_TEXT_SPECIAL.test(text) ? escaped(text, TEXT_ENTITIES) : text
}

/** Returns `text` as the value of a double-quoted XML attribute, without the quotes (contract §3.2). */
export function xmlAttribute(text: string): string {
  return XML_ATTRIBUTE_SPECIAL.test(text) ? escaped(text, ATTRIBUTE_ENTITIES) : text
}

/** One pass without callbacks, because a text may consist of nothing but escaped characters. */
function escaped(text: string, entities: Entities): string {
  const possible = text.toWellFormed()
  const pieces: string[] = []
  let from = 0
  for (let at = 0; at < possible.length; at++) {
    const code = possible.charCodeAt(at)
    const entity = code < 0x40 ? entities[code] : code >= 0xfffe ? '\ufffd' : undefined
    if (entity === undefined) continue
    if (at > from) pieces.push(possible.slice(from, at))
    pieces.push(entity)
    from = at + 1
  }
  pieces.push(possible.slice(from))
  return pieces.join('')
}
