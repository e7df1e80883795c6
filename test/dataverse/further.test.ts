import { expect, it } from 'bun:test'
import { FilesDirectory } from '../support/files-directory.ts'
import { eventually } from '../support/eventually.ts'
import { serve } from '../support/marquee-process.ts'
import { crmSection, eventValues, idOf, openEnvironment } from './environment.ts'
import { RUNTIMES } from '../support/depth.ts'

it.each(RUNTIMES)(
  'further fields come from the columns of a table, and are read again as they change (contract §7) (%s)',
  async (runtime) => {
    const { standIn, events } = await openEnvironment()
    const types = { cr5_short: 'String', cr5_doors: 'DateTime', cr5_stepfree: 'Boolean', cr5_seats: 'Integer' } as const
    for (const [name, type] of Object.entries(types)) events.columns.set(name, { type })
    const doors = '2026-07-12T18:00:00Z'
    events.put(idOf(1), eventValues(1, { cr5_short: ' abgesagt ', cr5_doors: doors, cr5_stepfree: true, cr5_seats: 7 }))
    events.put(idOf(2), eventValues(2, { cr5_short: null, cr5_doors: null, cr5_stepfree: null, cr5_seats: null }))
    events.put(idOf(3), eventValues(3, { cr5_short: 'x', cr5_doors: 'soon', cr5_stepfree: false, cr5_seats: 1 }))
    const declared = { Status: 'text', Doors: 'date-time', StepFree: 'flag', Rows: 'integer' }
    const Status = { column: 'cr5_short', values: { abgesagt: 'cancelled' } }
    const fields = { Status, Doors: 'cr5_doors', StepFree: 'cr5_stepfree', Rows: 'cr5_seats' }
    const directory = new FilesDirectory(
      {
        timeZone: 'Europe/London',
        freshness: { maxAge: '2s', refreshEvery: '100ms' },
        representation: { further: { events: declared } },
        crm: crmSection(standIn, { events: { fields } }),
      },
      null,
    )
    const { child, listening } = await serve(runtime, directory.configuration, {
      SECRET: standIn.directory.secret,
    })
    const ask = async (
      number: number,
    ): Promise<{ readonly status: number; readonly body: Record<string, unknown> }> => {
      const response = await fetch(`${listening.address}api/events/${idOf(number)}`)
      return { status: response.status, body: (await response.json()) as Record<string, unknown> }
    }
    expect((await ask(1)).body).toMatchObject({
      Status: 'cancelled',
      Doors: '2026-07-12T19:00:00+01:00',
      StepFree: true,
      Rows: 7,
    })
    expect((await ask(2)).body).toMatchObject({ Status: null, Doors: null, StepFree: null, Rows: null })
    expect((await ask(3)).status).toBe(404)
    events.put(idOf(1), eventValues(1, { cr5_short: 'moved', cr5_doors: doors, cr5_stepfree: true, cr5_seats: 8 }))
    const changed = await eventually(
      () => ask(1),
      ({ body }) => body['Rows'] === 8,
    )
    expect(changed.body['Status']).toBe('moved')
    await child.stop()
    directory.remove()
    standIn.close()
  },
)
