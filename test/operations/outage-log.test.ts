import { expect, it } from 'bun:test'
import { LISTS } from '../contract/rows.ts'
import { eventually } from '../support/eventually.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import { serve } from '../support/marquee-process.ts'
import { RUNTIMES } from '../support/depth.ts'

interface Line {
  readonly event: string
  readonly level: string
  readonly list?: string
  readonly message: string
}

it.each(RUNTIMES)(
  'the log says once a list when callers begin to get 502, and why, and once when that is over (on %s)',
  async (runtime) => {
    const directory = new FilesDirectory({ freshness: { maxAge: '6s', refreshEvery: '100ms' } }, LISTS)
    const { child } = await serve(runtime, directory.configuration)
    const told = (): readonly Line[] =>
      child.stdout
        .split('\n')
        .filter((line) => line.includes('"answers-'))
        .map((line) => JSON.parse(line) as Line)
    directory.write('events', '[{')
    await eventually(
      async () => told(),
      (lines) => lines.length === 1,
    )
    directory.write('events', LISTS.events ?? '')
    await eventually(
      async () => told(),
      (lines) => lines.length === 2,
    )
    expect(await child.stop()).toBe(0)
    const [began, ended, ...more] = told()
    expect(began).toMatchObject({ event: 'answers-stopped', level: 'error', list: 'events' })
    expect(began?.message).toMatch(
      /^callers get 502 for the events: they were last confirmed \d+ s ago; events\.json.*$/,
    )
    expect(ended).toMatchObject({ event: 'answers-resumed', level: 'info', list: 'events' })
    expect(ended?.message).toMatch(/^callers get the events again, after \d+ s of 502$/)
    expect(more).toEqual([])
    directory.remove()
  },
)

it.each(RUNTIMES)(
  'a list that the shrink guard holds is served after a restart, and no line says that callers get 502 (on %s)',
  async (runtime) => {
    const rows = Array.from({ length: 30 }, (_, at) => ({
      Id: `00000000-0000-4000-8000-0000000000${10 + at}`,
      Start: '2036-05-01T19:30Z',
      Finish: '2036-05-01T22:00Z',
      ShowOnWeb: true,
    }))
    const directory = new FilesDirectory(
      { operations: { port: 0 }, freshness: { maxAge: '6s', refreshEvery: '100ms' } },
      { events: JSON.stringify(rows), venues: '[]' },
    )
    const held = async (service: Awaited<ReturnType<typeof serve>>): Promise<void> => {
      await eventually(
        async () => (await (await fetch(`${service.listening.operations}status`)).json()) as Status,
        ({ lists }) => lists.events.served === 30 && (lists.events.shrunk !== null) === isShort,
      )
    }
    let isShort = false
    const first = await serve(runtime, directory.configuration)
    await held(first)
    await first.child.line((line) => line.includes('"snapshot-written"'))
    directory.write('events', JSON.stringify(rows.slice(0, 3)))
    isShort = true
    await held(first)
    expect(await first.child.stop()).toBe(0)
    const second = await serve(runtime, directory.configuration)
    const answer = await fetch(`${second.listening.address}api/events/${rows[20]?.Id}`)
    expect(answer.status).toBe(200)
    await held(second)
    const { lists } = (await (await fetch(`${second.listening.operations}status`)).json()) as Status
    expect([lists.events.confirmedAgeMs, lists.venues.confirmedAgeMs].every(Number.isInteger)).toBeTrue()
    expect(await second.child.stop()).toBe(0)
    expect(second.child.stdout).toContain('"event":"shrunk"')
    expect(second.child.stdout).not.toContain('"answers-stopped"')
    directory.remove()
  },
)

interface Status {
  readonly lists: Readonly<
    Record<'events' | 'venues', { readonly served: number; readonly shrunk: unknown; readonly confirmedAgeMs: unknown }>
  >
}
