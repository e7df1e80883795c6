import { describe, expect, it } from 'bun:test'
import { runCommand } from '../commands/run-command.ts'
import { CONFIGURATION, WorkFolder } from '../commands/work-folder.ts'

const SHOWN = '7e016ac6-5cee-4fd6-be12-faa34a6761ef'
const VENUE = '53b08621-ae96-444f-a44f-55d91d92cff9'
const OVER = '00000000-0000-4000-8000-00000000000a'
const WITHHELD = '1f1a33d2-a44d-4b81-964c-7fb5bb5bfcaa'

const overRow = {
  Id: OVER,
  Start: '2016-12-24T22:00:00+01:00',
  Finish: '2016-12-24T20:00:00+01:00',
  ShowOnWeb: true,
}

describe('where lists are on', () => {
  it('check says how many events are not yet over, and nothing of it where they are off', async () => {
    const calendar = `feeds: { calendar: on }\n${CONFIGURATION}`
    using folder = new WorkFolder({
      'on.yaml': `lists: on\n${CONFIGURATION}`,
      'off.yaml': CONFIGURATION,
      'calendar.yaml': calendar,
    })
    folder.copySample('crm')
    const told = async (config: string): Promise<string> =>
      (await runCommand(['check', '--config', config], { cwd: folder.path })).stdout
    expect(await told('on.yaml')).toMatch(/^\/api\/events lists 31 of 31: the events that are not over\.$/m)
    for (const config of ['off.yaml', 'calendar.yaml']) expect(await told(config)).not.toContain('/api/events lists')
  })

  it('explain says whether a record is in the list, and until when', async () => {
    using folder = new WorkFolder({ 'on.yaml': `lists: on\n${CONFIGURATION}`, 'off.yaml': CONFIGURATION })
    folder.copySample('crm')
    const told = async (id: string, config = 'on.yaml'): Promise<string> =>
      (await runCommand(['explain', id, '--config', config], { cwd: folder.path })).stdout
    expect(await told(SHOWN)).toContain('It is in /api/events until 2036-05-09T21:15:00+00:00.')
    expect(await told(VENUE)).toContain('It is in /api/venues.')
    for (const text of [await told(WITHHELD), await told(SHOWN, 'off.yaml')])
      expect(text).not.toContain('It is in /api')
    folder.write('crm/events.json', JSON.stringify([overRow]))
    // It ends when it starts, since it finishes before.
    expect(await told(OVER)).toContain('It ended at 2016-12-24T21:00:00+00:00')
  })
})
