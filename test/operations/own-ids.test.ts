import { afterEach, describe, expect, it } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Explanation } from '../../src/operations/explanation.ts'
import type { Runtime } from '../support/child.ts'
import { eventually } from '../support/eventually.ts'
import { runCommand } from '../commands/run-command.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import { type MarqueeProcess, serve } from '../support/marquee-process.ts'
import { askOperations } from '../support/operations-client.ts'
import { RUNTIMES } from '../support/depth.ts'

const BLOCKS = {
  idNamespace: '6f1f3c0e-5f0e-4c57-8a55-0d6c1c0a7e11',
  events: {
    fields: { Id: 'Nr', Name: 'Titel', VenueId: 'Saal', Start: 'Beginn', Finish: { lasting: '2h' } },
    active: null,
    showOnWeb: null,
  },
  venues: { fields: { Id: 'Nr', Name: 'Name' }, active: null },
}

const directories: FilesDirectory[] = []
const children: MarqueeProcess[] = []
afterEach(async () => {
  for (const { child } of children.splice(0)) await child.stop()
  for (const directory of directories.splice(0)) directory.remove()
})

/** A directory whose events and venues have numbers of their own. */
function directoryOf(events: Readonly<Record<string, string>>, venues: string): FilesDirectory {
  const crm = { kind: 'files', directory: './crm', ...BLOCKS }
  const directory = new FilesDirectory({ operations: { port: 0 }, timeZone: 'Europe/Berlin', crm }, null)
  directories.push(directory)
  mkdirSync(directory.crm, { recursive: true })
  for (const [name, text] of Object.entries(events)) writeFileSync(join(directory.crm, name), text)
  writeFileSync(join(directory.crm, 'venues.csv'), venues)
  return directory
}

async function started(runtime: Runtime, directory: FilesDirectory) {
  const running = await serve(runtime, directory.configuration)
  children.push(running)
  const ask = async (path: string): Promise<string> =>
    (await askOperations(`${running.listening.operations ?? ''}${path}`))?.text ?? ''
  await eventually(
    () => ask('ready'),
    (text) => text === 'ready\n',
  )
  return ask
}

describe.each(RUNTIMES)('ids of the CRM that are no GUIDs, on %s', (runtime) => {
  it('explain tells an event and a venue that have the same one', async () => {
    const directory = directoryOf(
      { 'events.csv': 'Nr,Titel,Saal,Beginn\n7,Fidelio,7,2036-07-12 19:30\n8,Tosca,,\n' },
      'Nr,Name\n7,Großer Saal\n8,Foyer\n',
    )
    const args = ['explain', '7', '--config', directory.configuration]
    const alone = await runCommand(args, { runtime })
    expect(alone.status).toBe(0)
    expect(alone.stdout.match(/^The \w+/gm)).toEqual(['The event', 'The venue'])
    const other = await runCommand(['explain', '8', '--config', directory.configuration, '--json'], { runtime })
    expect(other.status).toBe(1)
    const told = JSON.parse(other.stdout) as Explanation
    expect(Object.keys(told)).toEqual(['id', 'kind', 'shown', 'steps', 'also'])
    expect(told).toMatchObject({ kind: 'event', shown: false, also: [{ kind: 'venue', shown: true }] })
    expect(told.also?.map((record) => Object.keys(record))).toEqual([['id', 'kind', 'shown', 'steps']])

    const ask = await started(runtime, directory)
    const shown = JSON.parse(await ask('explain/7')) as Explanation
    expect(shown).toMatchObject({ kind: 'event', shown: true, also: [{ kind: 'venue', shown: true }] })
    expect(shown.also?.[0]?.representations).toHaveLength(4)
    expect(shown.steps.find(({ step }) => step === 'venue')?.detail).toStartWith('Its venue "7" (')
    expect(JSON.parse(await ask(`explain/${shown.id}`))).not.toHaveProperty('also')
    const running = children.at(-1)?.listening.operations ?? ''
    const asked = await runCommand([...args, '--operations-port', new URL(running).port], { runtime })
    expect(asked.stdout.match(/^The \w+/gm)).toEqual(['The event', 'The venue'])
  })

  it.each(['csv', 'ndjson'] as const)(
    'a row that has the id of another is told by what stands in its cell (%s)',
    async (format) => {
      const rows = [
        { Nr: '17 a', Titel: 'Fidelio', Beginn: '2036-07-12 19:30' },
        { Nr: '18', Titel: 'Tosca', Beginn: '2036-07-13 19:30' },
      ]
      const textOf = (list: readonly Record<string, string>[]): string =>
        format === 'csv'
          ? `Nr,Titel,Beginn,Saal\n${list.map(({ Nr, Titel, Beginn }) => `${Nr},${Titel},${Beginn},\n`).join('')}`
          : list.map((row) => `${JSON.stringify({ Saal: null, ...row })}\n`).join('')
      const directory = directoryOf({ [`events.${format}`]: textOf(rows) }, 'Nr,Name\n')
      const ask = await started(runtime, directory)
      // The copy is a row that did not change, and so is not mapped again.
      writeFileSync(join(directory.crm, `events.${format}`), textOf([...rows, ...rows.slice(0, 1)]))
      const withheld = await eventually(
        () => ask('withheld?list=events'),
        (text) => text.includes('duplicate-id'),
      )
      expect(withheld).toContain('has the id of another row in Nr; found \\"17 a\\"')
      expect(await ask('status')).toContain('{"column":"Nr","fault":"duplicate-id","count":1}')
      const args = ['check', '--json', '--config', directory.configuration]
      const { groups } = JSON.parse((await runCommand(args, { runtime })).stdout) as { groups: object[] }
      expect(groups).toMatchObject([{ column: 'Nr', fault: 'duplicate-id', found: [{ value: '17 a', count: 1 }] }])
    },
  )
})
