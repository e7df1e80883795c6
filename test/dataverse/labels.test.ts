import { describe, expect, it } from 'bun:test'
import { eventValues, fill, idOf } from './environment.ts'
import { eventIn, Fixture, load } from './fixture.ts'
import { refusal } from './reply.ts'
import type { Rig } from './rig.ts'

const environment = new Fixture()

async function loaded(language: number | null = null): Promise<Rig> {
  const tags = { kind: 'column', column: 'cr5_tags', whenBlank: null, label: true } as const
  const settings = { language, events: { from: 'msevtmgt_events', fields: { Tags: tags } } }
  const rig = await environment.rig({ settings })
  await load(rig)
  return rig
}

const tag = (number: number, codes: string | null): void =>
  environment.events.put(idOf(number), eventValues(number, { cr5_tags: codes }))

const looks = (): number => environment.standIn.reads.filter(({ path }) => path.includes('OptionSet')).length

describe('labels', () => {
  it('are the words that people see, in the language asked for, whatever separators are in them', async () => {
    tag(1, '2,3,8')
    tag(2, null)
    const english = await loaded()
    expect(eventIn(english, 1)?.Tags).toEqual(['Hiking', 'Mountain; Climbing', 'Skiing, alpine'])
    expect(eventIn(english, 2)?.Tags).toEqual([])
    const german = await loaded(1031)
    expect(eventIn(german, 1)?.Tags).toEqual(['Wandern', 'Bergsteigen', 'Ski'])
  })

  it('are in the language of the application user, unless another is asked for', async () => {
    tag(1, '2,3,8')
    const definition = environment.events.columns.get('cr5_tags')
    if (definition === undefined) throw new Error('the table has no tags')
    environment.events.columns.set('cr5_tags', { ...definition, userLanguage: 1031 })
    expect(eventIn(await loaded(), 1)?.Tags).toEqual(['Wandern', 'Bergsteigen', 'Ski'])
    expect(eventIn(await loaded(1033), 1)?.Tags).toEqual(['Hiking', 'Mountain; Climbing', 'Skiing, alpine'])
    // What has no label in the language asked for has that of the user.
    expect(eventIn(await loaded(1036), 1)?.Tags).toEqual(['Wandern', 'Bergsteigen', 'Ski'])
  })

  it('that cannot be read fail the read, rather than strip the events', async () => {
    tag(1, '2')
    const rig = await loaded()
    environment.events.oldestKnown = Number.POSITIVE_INFINITY
    environment.standIn.trap('OptionSet', { kind: 'reply', reply: refusal(500, '', 'busy') }, 2)
    expect((await rig.replica.events.refresh.attempt()).ok).toBe(false)
    expect(eventIn(rig, 1)?.Tags).toEqual(['Hiking'])
  })

  it('that come as something else are no proof that there are none', async () => {
    const reply = { status: 200, headers: {}, body: '<html>Sign in</html>' }
    environment.standIn.trap('OptionSet', { kind: 'reply', reply })
    const tags = { kind: 'column', column: 'cr5_tags', whenBlank: null, label: true } as const
    const rig = await environment.rig({
      settings: { events: { from: 'msevtmgt_events', fields: { Tags: tags } } },
    })
    expect(await rig.replica.events.refresh.attempt()).toMatchObject({ ok: false, failure: { kind: 'broken' } })
    expect(await rig.replica.events.refresh.attempt()).toEqual({ ok: true })
  })

  it('of a column without options yet are none, and no fault', async () => {
    for (const code of ['2', '3', '8', '9']) environment.events.option('cr5_tags', code, {})
    tag(1, null)
    expect(eventIn(await loaded(), 1)?.Tags).toEqual([])
  })
})

describe('an option that comes', () => {
  it('is shown by the very next refresh, however lately the labels were read', async () => {
    tag(1, '2')
    const rig = await loaded()
    const before = looks()
    environment.events.option('cr5_tags', '10', { 1033: 'Sailing' })
    environment.events.change(idOf(1), { cr5_tags: '2,10' })
    await rig.replica.events.refresh.attempt()
    expect(eventIn(rig, 1)?.Tags).toEqual(['Hiking', 'Sailing'])
    expect(looks()).toBe(before + 1)
    environment.events.option('cr5_tags', '11', { 1033: 'Surfing' })
    environment.events.change(idOf(1), { cr5_tags: '11' })
    await rig.replica.events.refresh.attempt()
    expect(eventIn(rig, 1)?.Tags).toEqual(['Surfing'])
  })

  it('while a list is read is found for the pages that hold it', async () => {
    fill(environment, 2500)
    tag(2400, '10')
    environment.standIn.onAsked = (path) => {
      if (path.includes('skiptoken')) environment.events.option('cr5_tags', '10', { 1033: 'Sailing' })
    }
    expect(eventIn(await loaded(), 2400)?.Tags).toEqual(['Sailing'])
  })
})

describe('a code without a label', () => {
  const noticesOf = ({ observations }: Rig): readonly string[] =>
    observations.flatMap((seen) => (seen.kind === 'crm-noticed' ? [seen.message] : []))

  it('is left out, and told once', async () => {
    tag(1, '2,77')
    tag(2, '2')
    const rig = await loaded()
    expect(eventIn(rig, 1)?.Tags).toEqual(['Hiking'])
    for (let change = 0; change < 3; change++) {
      environment.events.change(idOf(2), { cr5_tags: '2' })
      await rig.replica.events.refresh.attempt()
    }
    const remedy = 'give their options a label again, or remove them from the rows'
    const notice = `events: codes in cr5_tags have no label in the CRM: 77; the rows are shown without them; ${remedy}`
    // Once of the full read, and once of the reads of changes.
    expect(new Set(noticesOf(rig))).toEqual(new Set([notice]))
    expect(noticesOf(rig).length).toBeLessThanOrEqual(2)
  })

  it('costs no read of definitions with each page that holds it, and at most one a minute', async () => {
    fill(environment, 4500)
    for (let number = 10; number < 4500; number += 10) tag(number, '77')
    const rig = await loaded()
    const before = looks()
    expect(before).toBeLessThanOrEqual(2)
    for (let code = 100; code < 120; code++) {
      environment.events.change(idOf(10), { cr5_tags: code % 2 === 0 ? '77,2' : '77' })
      environment.events.change(idOf(20), { cr5_tags: String(code) })
      await rig.replica.events.refresh.attempt()
    }
    expect(looks()).toBe(before)
    environment.aheadMs = 61_000
    environment.events.change(idOf(20), { cr5_tags: '200' })
    await rig.replica.events.refresh.attempt()
    expect(looks()).toBe(before + 1)
  })

  it('is shown once it has one, with the next full read', async () => {
    tag(1, '2,77')
    const rig = await loaded()
    environment.events.option('cr5_tags', '77', { 1033: 'Diving' })
    await rig.replica.events.audit.attempt()
    expect(eventIn(rig, 1)?.Tags).toEqual(['Hiking', 'Diving'])
  })
})
