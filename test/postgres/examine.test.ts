import { afterAll, afterEach, beforeAll, expect, it } from 'bun:test'
import { describeWithPostgres } from './needs-postgres.ts'
import { World } from './world.ts'

let world: World

describeWithPostgres('the examination of PostgreSQL', () => {
  beforeAll(async () => {
    world = await World.create()
    await world.fill(3)
  })

  afterEach(() => world.stopAll())

  afterAll(() => world.remove())

  it.each(['updated_at', null])(
    'reads a row of each list, so that a role without SELECT does not count as fit, with updatedAt: %p',
    async (updatedAt) => {
      const { marquee } = await world.begin({ crm: { events: { from: 'crm.public_events', updatedAt } } })
      await world.query('REVOKE SELECT ON crm.public_events FROM marquee')
      const { problems, warnings } = (await marquee.crm.examine?.()) ?? {}
      expect(problems).toMatchObject([{ kind: 'refused', message: expect.stringContaining('42501') as string }])
      expect(warnings?.filter((warning) => warning.includes('public_events'))).toEqual([])
      await world.query('GRANT SELECT ON crm.public_events TO marquee')
      expect((await marquee.crm.examine?.())?.problems).toEqual([])
    },
  )

  it('names a column that was dropped', async () => {
    const view = async (columns: string): Promise<void> => {
      await world.query('DROP VIEW IF EXISTS crm.leaner')
      await world.query(`CREATE VIEW crm.leaner AS SELECT ${columns} FROM crm.public_events`)
      await world.query('GRANT SELECT ON crm.leaner TO marquee')
    }
    const examined = async (): Promise<unknown> => {
      const { marquee } = await world.begin({ crm: { events: { from: 'crm.leaner' } } })
      return (await marquee.crm.examine?.())?.problems
    }
    await view('*')
    expect(await examined()).toEqual([])
    await view(
      'id, name, venue_id, ticket_capacity, tickets_available, start, finish, tags, active, show_on_web, updated_at',
    )
    const message = expect.stringContaining('crm.leaner has no column price') as string
    expect(await examined()).toMatchObject([{ kind: 'misconfigured', message }])
  })
})
