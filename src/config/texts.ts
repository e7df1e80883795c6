import { resolve } from 'node:path'
import type { Guid } from '../domain/guid.ts'
import { parseGuid } from '../domain/guid.ts'
import type { Zone } from '../domain/zone.ts'
import { openZone } from '../domain/zone.ts'
import type { Key } from './key.ts'
import { leaf, Wrong } from './key.ts'
import { nearestName } from './nearest-name.ts'
import { Secret } from './secret.ts'

/** Text that `accepts` takes; numbers and booleans must be quoted, so that `007` and `on` stay what they are. */
export function text(allowed: string, accepts: (text: string) => boolean): Key<string> {
  return leaf(allowed, ({ value }) => {
    if (typeof value !== 'string') return new Wrong(`must be ${allowed}, in quotes`)
    return accepts(value) ? value : null
  })
}

/** Whether a text can be the name of a file, a column, a table. */
export function isName(name: string): boolean {
  return name !== '' && !name.includes('\0')
}

/** A path, made absolute: it is relative to the configuration file. */
export function path(allowed: string): Key<string> {
  return text(allowed, isName).map((given, { findings }) => resolve(findings.folder, given))
}

/** The very word, by which a section is known. */
export function word<const Word extends string>(expected: Word): Key<Word> {
  return leaf(expected, ({ value }) => (String(value).trim() === expected ? expected : null))
}

/** A secret, which never stands in the file itself. */
export function secretText(allowed: string, accepts: (text: string) => boolean): Key<Secret> {
  return leaf(`${allowed}, given as { env: NAME } or { file: PATH }`, ({ reference }) => {
    if (reference === null) {
      return new Wrong('must not be written in the file; give { env: NAME } or { file: PATH }', true)
    }
    return accepts(reference.text) ? new Secret(reference.text, reference) : null
  })
}

export function guid(): Key<Guid> {
  return leaf('a UUID that is not all zeros', ({ value }) => (typeof value === 'string' ? parseGuid(value) : null))
}

const ZONE = 'an IANA time zone such as UTC or Europe/London'

export function timeZone(): Key<Zone> {
  return leaf(ZONE, ({ value, reference }) => {
    if (typeof value !== 'string') return null
    const zone = openZone(value.trim())
    if (zone !== null) return zone
    // What came by reference is not shown, and so no name like it either.
    const near = reference === null ? nearestName(value, Intl.supportedValuesOf('timeZone')) : null
    return near === null ? null : new Wrong(`must be ${ZONE}; did you mean ${near}?`)
  })
}
