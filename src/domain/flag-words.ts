const YES = /^(?:x|ja?|wahr|richtig|oui|vrai|s[ií]?|verdadero|waar|vero|y|t|on|✓|✔)$/i
const NO = /^(?:nein|falsch|non|faux|falso|nee|onwaar|n|f|off|-|–|✗)$/i

/** Returns true if a text that Marquee does not read as a flag means yes, in the languages of its users. */
export function isYes(found: string): boolean {
  return YES.test(found.trim())
}

export function isNo(found: string): boolean {
  return NO.test(found.trim())
}
