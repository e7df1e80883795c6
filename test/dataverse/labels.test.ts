import { beforeEach, describe, expect, it } from 'bun:test'
import { explainId } from '../../src/operations/explanation.ts'
import { systemTime } from '../../src/time/time.ts'
import { eventValues, fill, idOf } from './environment.ts'
import { eventIn, Fixture, load } from './fixture.ts'
import { refusal } from './reply.ts'
import type { Rig } from './rig.ts'

const environment = new Fixture()

async function loaded(language: number | null = null): Promise<Rig> {
  const tags = { kind: 'column', column: 'cr5_tags', whenBlank: null, label: true } as const
  const settings = { language, events: { from: 'msevtmgt_events', fields: { Tags: tags } } }
  const rig = environment.rig({ settings })
  await load(rig)
  return rig
}

/** What `explain` says of how its columns could be read. */
async function mapped(
  { replica, crm }: Rig,
  number: number,
): Promise<{ readonly ok?: boolean; readonly detail?: string }> {
  const told = await explainId(idOf(number), {
    lists: replica,
    now: environment.time.now(),
    mayAnswer: () => true,
    idsOf: null,
    remarkOn: (list, id) => crm[list].remarkOn?.(id) ?? null,
    hasLists: false,
  })
  return told.steps.find(({ step }) => step === 'mapped') ?? {}
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
    expect(await mapped(english, 1)).toMatchObject({ ok: true })
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
    environment.standIn.trap('OptionSet', { kind: 'reply', reply: refusal(503, '', 'busy') }, 2)
    expect((await rig.replica.events.refresh.attempt()).ok).toBe(false)
    expect(eventIn(rig, 1)?.Tags).toEqual(['Hiking'])
  })

  it('that come as something else are no proof that there are none', async () => {
    const reply = { status: 200, headers: {}, body: '<html>Sign in</html>' }
    environment.standIn.trap('OptionSet', { kind: 'reply', reply })
    const tags = { kind: 'column', column: 'cr5_tags', whenBlank: null, label: true } as const
    const rig = environment.rig({
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
  beforeEach(() => {
    const { monotonicMs, wallMs } = systemTime.now()
    // Whole: fractions would round, and so end an interval a refresh later.
    environment.stoppedAt = { monotonicMs: Math.floor(monotonicMs), wallMs }
  })

  it('is left out, and told by the log, check and explain', async () => {
    tag(1, '2,77')
    tag(2, '2')
    const rig = await loaded()
    expect(eventIn(rig, 1)?.Tags).toEqual(['Hiking'])
    expect(rig.observations.filter(({ kind }) => kind === 'labels-missing')).toEqual([
      { kind: 'labels-missing', table: 'msevtmgt_events', column: 'cr5_tags', codes: 1 },
    ])
    expect((await mapped(rig, 1)).ok).toBe(false)
    expect((await mapped(rig, 1)).detail).toContain('no label in the CRM, 77 in cr5_tags')
    expect((await mapped(rig, 2)).detail).toBe('Every column could be read.')
    const warnings = (await rig.crm.examine?.())?.warnings ?? []
    expect(warnings.join()).toContain(`1 of the events, such as ${idOf(1)}, hold a code that has no label`)
    environment.events.change(idOf(1), { cr5_tags: '2' })
    await rig.replica.events.refresh.attempt()
    expect((await mapped(rig, 1)).ok).toBe(true)
    expect((await rig.crm.examine?.())?.warnings).toEqual([])
  })

  it('costs no read of definitions with each page that holds it', async () => {
    fill(environment, 4500)
    for (let number = 10; number < 4500; number += 10) tag(number, '77')
    const rig = await loaded()
    // One of the read itself: its first page holds the code already.
    expect(looks()).toBe(1)
    for (let change = 0; change < 20; change++) {
      environment.events.change(idOf(10), { cr5_tags: change % 2 === 0 ? '77,2' : '77' })
      await rig.replica.events.refresh.attempt()
    }
    expect(looks()).toBe(1)
    // Nor do many such codes, one with each change: one look in ten seconds.
    for (let code = 100; code < 120; code++) {
      environment.events.change(idOf(20), { cr5_tags: String(code) })
      await rig.replica.events.refresh.attempt()
    }
    expect(looks()).toBe(1)
  })

  it('is looked for again at growing intervals, and shown once it has one, though no row changes', async () => {
    tag(1, '2,77')
    const rig = await loaded()
    const lookedAt: number[] = []
    for (let second = 1; second <= 200; second++) {
      environment.aheadMs = second * 1000
      const before = looks()
      // The row comes with each refresh, its code still without a word.
      environment.events.change(idOf(1), { msevtmgt_registrationcount: second })
      await rig.replica.events.refresh.attempt()
      if (looks() > before) lookedAt.push(second)
    }
    expect(lookedAt).toEqual([10, 30, 70, 150])
    environment.events.option('cr5_tags', '77', { 1033: 'Diving' })
    environment.aheadMs = 320_000
    // The first read that could tell fails: the next one that succeeds tells.
    environment.standIn.trap(/events\?\$select=[^&]*$/, { kind: 'reply', reply: refusal(503, '', 'busy') })
    expect((await rig.replica.events.refresh.attempt()).ok).toBe(false)
    expect(eventIn(rig, 1)?.Tags).toEqual(['Hiking'])
    expect(await rig.replica.events.refresh.attempt()).toEqual({ ok: true })
    expect(eventIn(rig, 1)?.Tags).toEqual(['Hiking', 'Diving'])
    expect((await mapped(rig, 1)).ok).toBe(true)
    const quiet = environment.standIn.reads.length
    await rig.replica.events.refresh.attempt()
    expect(environment.standIn.reads.length).toBe(quiet + 1)
  })
})
