/** The names of days in English, German, French, Spanish, Dutch and Italian, without accents. */
const NAMES = `
monday tuesday wednesday thursday friday saturday sunday
montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag
lundi mardi mercredi jeudi vendredi samedi dimanche
lunes martes miercoles jueves viernes sabado domingo
maandag dinsdag woensdag donderdag vrijdag zaterdag zondag
lunedi martedi mercoledi giovedi venerdi sabato domenica`
/** The names, and their beginnings of two letters or more. */
const WRITTEN = new Set(
  NAMES.split(/\s+/).flatMap((name) => Array.from(name, (_, at) => name.slice(0, at + 1)).slice(1)),
)

/** Whether a word is a day's name, whole or abbreviated, in any case, with or without a dot or its accents. */
export function isDayName(word: string): boolean {
  const bare = word.replace(/\.$/, '').normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase()
  return WRITTEN.has(bare)
}
