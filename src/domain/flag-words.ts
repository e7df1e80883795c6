const YES = new Set('x j ja y yes t true 1 wahr richtig oui vrai s si sí sì verdadero waar vero on ✓ ✔'.split(' '))
const NO = new Set('n nein no f false 0 falsch non faux falso nee onwaar off - – ✗'.split(' '))

/** Returns true if a text means yes, in the languages of Marquee's users. */
export function isYes(text: string): boolean {
  return YES.has(text.trim().toLowerCase())
}

export function isNo(text: string): boolean {
  return NO.has(text.trim().toLowerCase())
}
