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
    const directory = new FilesDirectory({ freshness: { maxAge: '400ms', refreshEvery: '100ms' } }, LISTS)
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
