import { describe, expect, it } from 'bun:test'
import { eventually } from '../support/eventually.ts'
import { runCommand } from '../commands/run-command.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import { serve } from '../support/marquee-process.ts'
import { askOperations } from '../support/operations-client.ts'
import { RUNTIMES } from '../support/depth.ts'

function event(index: number, changes: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  const id = `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`
  const times = { Start: '2036-07-12 19:30', Finish: '2036-07-12 21:30' }
  const tickets = { TicketCapacity: 9, TicketsAvailable: 3, Price: '12.50' }
  return { Id: id, Name: `Event ${index}`, ...times, ...tickets, ShowOnWeb: true, ...changes }
}

interface Line {
  readonly level: string
  readonly event: string
  readonly message: string
  readonly newlyWithheld?: readonly unknown[]
}

function linesOf(text: string): readonly Line[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line)
}

describe('a service whose data is most likely wrong says so (SURFACE: Suspicious)', () => {
  it.each(RUNTIMES)('%s: counts dates without an offset as check does', async (runtime) => {
    const events = [
      event(1),
      event(2, { ShowOnWeb: false }),
      event(3, { Active: false, Finish: '2036-07-12T21:30:00Z' }),
      event(4, { TicketCapacity: 'many' }),
      event(5, { Id: 'none' }),
      event(6, { Start: 'soon', Price: 'x' }),
      event(1),
    ]
    const lists = { events: JSON.stringify(events), venues: '[]' }
    const directory = new FilesDirectory({ operations: { port: 0 } }, lists)
    const args = ['check', '--json', '--config', directory.configuration]
    const { stdout } = await runCommand(args, { runtime })
    expect((JSON.parse(stdout) as { zone: object }).zone).toEqual({ name: 'UTC', set: false, datesWithoutOffset: 12 })
    const { child, listening } = await serve(runtime, directory.configuration)
    const line = await child.line((text) => text.includes('"wall-times"'))
    expect(line).toContain('"count":12')
    const status = await askOperations(`${listening.operations ?? ''}status`)
    expect(status?.text).toContain('"datesWithoutOffset":12')
    await child.stop()
    directory.remove()
  })

  it.each(RUNTIMES)('%s: in the log, once a kind, and in /status', async (runtime) => {
    const freshness = { maxAge: '2s', refreshEvery: '100ms', shrinkGuard: 'off' }
    const events = [
      event(1, { TicketCapacity: 2, TicketsAvailable: 3 }),
      event(2, { Finish: '2036-07-11 21:30' }),
      event(3, { Finish: '2036-07-11 21:30', ShowOnWeb: false }),
    ]
    const lists = { events: JSON.stringify(events), venues: '[]' }
    const directory = new FilesDirectory({ operations: { port: 0 }, freshness }, lists)
    const { child, listening } = await serve(runtime, directory.configuration)
    const warned = (): readonly Line[] => linesOf(child.stdout).filter(({ level }) => level === 'warn')
    const status = async (): Promise<{
      lists: { events: { servesNothing: boolean; suspicious: { column: string }[] } }
    }> => JSON.parse((await askOperations(`${listening.operations ?? ''}status`))?.text ?? '') as never
    const begun = await eventually(
      async () => warned(),
      (lines) => lines.length >= 3,
    )
    expect(begun.map(({ message }) => message)).toEqual([
      'suspicious in the events: TicketsAvailable is above TicketCapacity (1 row, first at events.json, item 1 (line 1))',
      'suspicious in the events: Finish is before Start (1 row, first at events.json, item 2 (line 1))',
      '6 dates of the events have no offset and are read as UTC, because timeZone is not set. Set it, for example to Europe/London',
    ])
    expect((await status()).lists.events.suspicious.map(({ column }) => column)).toEqual(['TicketsAvailable', 'Finish'])

    directory.write('events', JSON.stringify([event(1), event(2, { Price: '18,50' }), event(4, { Price: '18,50' })]))
    const withheld = await eventually(
      async () => warned().slice(3),
      (lines) => lines.length >= 1,
    )
    expect(withheld[0]?.message).toMatch(
      /^2 more rows of the events are withheld because of mistakes, .* Price unreadable \(2\)/,
    )
    expect(withheld[0]?.newlyWithheld).toEqual([{ column: 'Price', fault: 'unreadable', count: 2 }])
    expect((await status()).lists.events).toMatchObject({ suspicious: [], servesNothing: false })

    directory.write('events', JSON.stringify([event(1, { ShowOnWeb: false }), event(2, { Price: '18,50' })]))
    const nothing = await eventually(
      async () => warned().slice(4),
      (lines) => lines.length >= 1,
    )
    expect(nothing[0]?.message).toMatch(/^no events are served: all 2 rows are withheld/)
    expect((await status()).lists.events.servesNothing).toBe(true)
    expect(warned().slice(5)).toEqual([])

    directory.write('events', JSON.stringify([event(1, { Finish: '2036-07-11 21:30' })]))
    await eventually(status, ({ lists: { events: now } }) => now.suspicious.length === 1)
    directory.write('events', '[]')
    await eventually(status, ({ lists: { events: now } }) => now.suspicious.length === 0)
    await child.stop()
    directory.remove()
  })
})
