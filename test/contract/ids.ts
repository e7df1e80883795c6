import { describe, expect, it } from 'bun:test'
import { EVENT, VENUE } from './rows.ts'
import type { Subject } from './subject.ts'

const EMPTY = '00000000-0000-0000-0000-000000000000'

/** Every form that .NET reads. */
function formsOf(id: string): string[] {
  const upper = id.toUpperCase()
  const digits = id.replaceAll('-', '')
  const mixed = [...id].map((character, index) => (index % 2 === 0 ? character.toUpperCase() : character)).join('')
  return [
    [id, upper, mixed, digits, digits.toUpperCase()],
    [`{${id}}`, `(${id})`, `{${upper}}`, `(${mixed})`, `%7B${id}%7D`, `%7b${id}%7d`, `%28${id}%29`],
    [`%20${id}`, `${id}%20`, `%09${id}%0D%0A`, `%20%20{${id}}%20`, `${digits}%0B%0C`, `%C2%A0${id}%E3%80%80`],
    [id.replaceAll('-', '%2D'), [...id].map((character) => `%${character.charCodeAt(0).toString(16)}`).join('')],
  ].flat()
}

function malformedOf(id: string): string[] {
  const digits = id.replaceAll('-', '')
  return [
    ['null', 'NULL', 'Null', 'undefined', '0', '1', '-', '%20', '%00', '%2F', 'x'.repeat(36), 'g'.repeat(32)],
    [EMPTY, EMPTY.replaceAll('-', ''), `{${EMPTY}}`, `(${EMPTY})`, `%20${EMPTY}%20`],
    [`{${digits}}`, `(${digits})`, `{${id}`, `${id}}`, `(${id}}`, `{${id})`, `{{${id}}}`, `[${id}]`, `"${id}"`],
    [id.slice(1), `${id}0`, `${digits}0`, digits.slice(1), `-${digits}`, `urn:uuid:${id}`, `0x${digits}`],
    [id.replace('-', ''), `${id.slice(0, 7)}-${id.slice(7)}`, id.replaceAll('-', '_'), id.replaceAll('-', '%E2%80%90')],
    [`${id}%`, `${id}%2`, `%zz${id}`, `${id}%ff`, `%C3${id}`, `${id}%00`, `${id}%252D`, `{%20${id}}`, `+${id}`],
    [`${id.slice(0, -1)}g`, `${id.slice(0, -1)}%EF%BC%91`],
  ].flat()
}

const ABSENT = [
  '/events',
  '/events/',
  '/events//',
  '/events//venue',
  '/events//venue/',
  '/venues',
  '/venues/',
  '/venues//',
]

export function idSentences(subject: () => Subject, hasLists = false): void {
  // With lists on, the paths without an id are lists (contract §4).
  const absent = hasLists ? ABSENT.filter((path) => path.includes('//')) : ABSENT
  describe('ids (contract §1.1)', () => {
    const endpoints = [
      [(id: string) => `/api/events/${id}`, EVENT, EVENT],
      [(id: string) => `/api/events/${id}/venue`, EVENT, VENUE],
      [(id: string) => `/api/venues/${id}`, VENUE, VENUE],
    ] as const

    for (const [path, id, answered] of endpoints) {
      it(`reads every form .NET reads in ${path('{id}')} and writes it lower-case and hyphenated`, async () => {
        for (const form of formsOf(id)) {
          const reply = await subject().ask(path(form))
          expect([form, reply.status]).toEqual([form, 200])
          expect(JSON.parse(reply.body)).toMatchObject({ Id: answered })
        }
      })

      it(`answers 400 to anything else in ${path('{id}')}`, async () => {
        for (const form of malformedOf(id))
          expect([form, (await subject().ask(path(form))).status]).toEqual([form, 400])
      })
    }

    it('answers 400 if the id is absent', async () => {
      for (const path of absent) {
        for (const target of [path, `/api${path}`]) {
          expect([target, (await subject().ask(target)).status]).toEqual([target, 400])
        }
      }
    })
  })
}
