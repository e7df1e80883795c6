import { describe, expect, it } from 'bun:test'
import { EVENT_NAMES, named, VENUE_NAMES } from './field-names.ts'
import { stateBegun } from '../domain/state-words.ts'

describe.each([
  ['event', EVENT_NAMES],
  ['venue', VENUE_NAMES],
])("a column with the own name of an %s's field", (kind, names) => {
  const fields = Object.keys(names).filter((field) => field !== 'Sold')
  const pairs = fields.flatMap((one) => fields.map((other) => [one, other] as const))

  it.each(pairs)('is taken for it alone: %s, %s', (one, other) => {
    for (const prefix of ['', `${kind}_`]) {
      if (prefix !== '' && [one, other].some((field) => ['Id', 'Name'].includes(field))) continue
      const columns = [...new Set([one, other])].map((field) => ({ name: `${prefix}${field}` }))
      const found = Object.entries(names).flatMap(([field, called]) => {
        const column = named(columns, called)
        return column === null ? [] : [[field, column.name]]
      })
      const expected = Object.keys(names).filter((field) => field === one || field === other)
      expect(found).toEqual(expected.map((field) => [field, `${prefix}${field}`]))
    }
  })
})

it.each([
  ['auf unbestimmte Zeit verschoben', 'postponed', 'auf unbestimmte Zeit verschoben'],
  ['Absage wegen Krankheit', 'cancelled', 'Absage'],
  ['Krankheitsbedingte Absage', 'cancelled', 'Krankheitsbedingte Absage'],
  ['Vorstellung fällt aus!', 'cancelled', 'Vorstellung fällt aus'],
  ['leider abgesagt (Krankheit)', 'cancelled', 'leider abgesagt'],
  ['verlegt auf 21.02.', 'postponed', 'verlegt'],
])('the state in the words %s is %s, up to its last word', (text, state, word) => {
  expect(stateBegun(text)).toEqual({ state: state as 'cancelled', word })
})

it.each(['nicht abgesagt', 'bei Absage Erstattung', 'ins Große Haus verlegt', 'abgesagte Stücke', 'Premiere'])(
  'no state is in the words %s',
  (text) => {
    expect(stateBegun(text)).toBeNull()
  },
)
