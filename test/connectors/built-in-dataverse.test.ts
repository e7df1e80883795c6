import { describe, expect, it } from 'bun:test'
import { examineList } from '../../src/crm/connector/conformance.ts'
import { fill } from '../dataverse/environment.ts'
import { Fixture } from '../dataverse/fixture.ts'
import { droppingFirstRow } from '../support/dropped-row.ts'
import { type Examined, examinedRows } from '../support/examined-source.ts'

const environment = new Fixture()

async function findingsOf(source: Examined): Promise<readonly string[]> {
  const findings = await examineList('events', examinedRows(source), environment.time, true)
  return findings.map(({ sentence }) => sentence)
}

describe('the Dataverse connector, examined as a connector of one’s own', () => {
  it('keeps all promises by change tracking', async () => {
    fill(environment, 2042)
    const { events } = environment.rig().crm
    expect(events.reportsChanges).toBe(true)
    expect(await findingsOf(events)).toEqual([])
  })

  it('is found out where the second full read lacks a row', async () => {
    fill(environment, 42)
    const { events } = environment.rig().crm
    const found = await findingsOf(droppingFirstRow(events, ({ kind }, reads) => kind === 'full' && reads > 3))
    expect(found.join()).toContain('returned different rows')
  })

  it('is found out where its cursor gives all rows again', async () => {
    fill(environment, 42)
    const { events } = environment.rig().crm
    const read: Examined['read'] = (request) => events.read({ ...request, kind: 'full', cursor: null })
    expect((await findingsOf({ reportsChanges: true, read })).join()).toContain(
      'changes returned 42 rows right after full returned 42',
    )
  })

  it('ends a read that is given up within a second, also where the environment never answers', async () => {
    fill(environment, 42)
    const { events } = environment.rig().crm
    let reads = 0
    const read: Examined['read'] = (request) => {
      // The last read is the one that is given up.
      if (++reads === 5) environment.standIn.traps.push({ times: 9, isFor: () => true, fault: { kind: 'hang' } })
      return events.read(request)
    }
    expect(await findingsOf({ reportsChanges: true, read })).toEqual([])
    expect(environment.standIn.traps[0]?.times).toBeLessThan(9)
  })
})
