const JSON_SPECIAL = /["\\\u0000-\u001f\u0085\u2028\u2029\ud800-\udfff]/
const JSON_ESCAPED = /["\\\u0000-\u001f\u0085\u2028\u2029]/g
const JSON_SHORT: ReadonlyMap<string, string> = new Map([
  ['"', '\\"'],
  ['\\', '\\\\'],
  ['\b', '\\b'],
  ['\t', '\\t'],
  ['\n', '\\n'],
  ['\f', '\\f'],
  ['\r', '\\r'],
])

/** The JSON string of `text`, quotes included, with the reference's escapes and no others (contract §3.2). */
export function jsonString(text: string): string {
  if (!JSON_SPECIAL.test(text)) return `"${text}"`
  return `"${text.toWellFormed().replace(JSON_ESCAPED, jsonEscape)}"`
}

function jsonEscape(character: string): string {
  return JSON_SHORT.get(character) ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

const XML_TEXT_SPECIAL = /[&<>\r\u0000-\u0008\u000b\u000c\u000e-\u001f\ud800-\udfff\ufffe\uffff]/
const XML_ATTRIBUTE_SPECIAL = /[&<>"\u0000-\u001f\ud800-\udfff\ufffe\uffff]/
// What XML 1.0 cannot carry, not even as a character reference (XML 1.0 §2.2, Char).
const XML_FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g
const XML_TEXT_ESCAPED = /[&<>\r]/g
const XML_ATTRIBUTE_ESCAPED = /[&<>"\t\n\r]/g
const XML_ENTITIES: ReadonlyMap<string, string> = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ['\t', '&#x9;'],
  ['\n', '&#xA;'],
  ['\r', '&#xD;'],
])

/** `text` as the content of an XML element; what XML cannot carry becomes U+FFFD (contract §3.2). */
export function xmlText(text: string): string {
  if (!XML_TEXT_SPECIAL.test(text)) return text
  return text.toWellFormed().replace(XML_FORBIDDEN, '\ufffd').replace(XML_TEXT_ESCAPED, xmlEntity)
}

/** `text` as the value of a double-quoted XML attribute, quotes not included (contract §3.2). */
export function xmlAttribute(text: string): string {
  if (!XML_ATTRIBUTE_SPECIAL.test(text)) return text
  return text.toWellFormed().replace(XML_FORBIDDEN, '\ufffd').replace(XML_ATTRIBUTE_ESCAPED, xmlEntity)
}

function xmlEntity(character: string): string {
  return XML_ENTITIES.get(character) ?? character
}
