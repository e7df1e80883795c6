/**
 * Folds the case of a tag (contract §4.1). The conversion goes through upper case, which gives `ß` and `SS` the same
 * result, and both lower-case sigmas.
 *
 * @example foldTag('STRASSE') === foldTag('Straße') // true
 */
export function foldTag(tag: string): string {
  const lower = tag.toLowerCase()
  return NOT_ASCII.test(lower) ? lower.toWellFormed().toUpperCase().toLowerCase() : lower
}

const NOT_ASCII = /[^\u0000-\u007f]/
