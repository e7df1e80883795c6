import { describe, expect, it } from 'bun:test'
import { fill } from './environment.ts'
import { Fixture, load } from './fixture.ts'

const environment = new Fixture()

describe('whether this instance could read the CRM, which a cluster asks before it lets one lead', () => {
  it('is asked with a row of each table, and not at all once the lists were read', async () => {
    fill(environment, 30)
    const rig = await environment.rig()
    expect(await rig.crm.examine?.()).toMatchObject({ problems: [] })
    const pages = environment.standIn.reads.filter(({ path }) => path.includes('$select='))
    expect(pages.length).toBe(2)
    await load(rig)
    const before = environment.standIn.reads.length
    expect(await rig.crm.examine?.()).toMatchObject({ problems: [] })
    expect(environment.standIn.reads.length).toBe(before)
  })

  it('is denied where the client secret is wrong', async () => {
    const secret = { text: 'another secret', name: 'the environment variable SECRET', reread: null }
    const rig = await environment.rig({ secret })
    const problems = (await rig.crm.examine?.())?.problems ?? []
    expect(problems.map(({ kind }) => kind)).toEqual(['refused', 'refused'])
    expect(JSON.stringify(problems)).not.toContain('another secret')
  })

  it('is denied where a table is missing', async () => {
    const rig = await environment.rig({ settings: { venues: { from: 'msevtmgt_venue', fields: {} } } })
    expect((await rig.crm.examine?.())?.problems).toMatchObject([{ kind: 'misconfigured' }])
  })
})
