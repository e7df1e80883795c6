import { describe, expect, it } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { serve } from '../support/marquee-process.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import { installedProgram } from '../support/installed-program.ts'
import { WorkFolder } from '../commands/work-folder.ts'
import { RUNTIMES } from '../support/depth.ts'

const [vdirsyncer, khal] = [installedProgram('vdirsyncer'), installedProgram('khal')]
const isMissing = vdirsyncer === null || khal === null
if (isMissing)
  console.warn('khal and vdirsyncer are not installed: no calendar program subscribes to a running instance.')

function event(number: number, Name: string, Start: string, more: object = {}): object {
  const Finish = Start.replace('T18', 'T21')
  return { Id: `a0000000-0000-4000-8000-00000000000${number}`, Name, Start, Finish, ShowOnWeb: true, ...more }
}

describe.skipIf(isMissing)('a calendar program that has subscribed (contract §6)', () => {
  it.each(RUNTIMES)('follows what is moved, added, cancelled and withdrawn in the CRM, on %s', async (runtime) => {
    const settings = {
      timeZone: 'Europe/London',
      freshness: { maxAge: '0s' },
      feeds: { calendar: 'on', calendarName: "What's on" },
      representation: { further: { events: { Description: 'text', Status: 'text' } } },
    }
    const before = [
      event(1, 'Gala, with dinner', '2036-07-12T18:00:00Z', { Description: 'Tables of ten;\nblack tie' }),
      event(2, 'Reading', '2036-07-13T18:00:00Z', { Status: 'scheduled' }),
      event(3, 'Märchen für Kinder', '2036-07-14T18:00:00Z'),
      event(4, 'Draft', '2036-07-15T18:00:00Z', { ShowOnWeb: false }),
    ]
    const directory = new FilesDirectory(settings, { events: JSON.stringify(before), venues: '[]' })
    const { child, port } = await serve(runtime, directory.configuration)
    using folder = new WorkFolder({
      'vdirsyncer.conf': `[general]
status_path = "./status/"
[pair marquee]
a = "published"
b = "mine"
collections = null
conflict_resolution = "a wins"
[storage published]
type = "http"
url = "http://127.0.0.1:${port}/api/events.ics"
[storage mine]
type = "filesystem"
path = "./calendar/"
fileext = ".ics"
`,
      'khal.conf': `[calendars]
[[marquee]]
path = ./calendar/
readonly = True
[sqlite]
path = ./khal.db
[locale]
local_timezone = Europe/London
default_timezone = Europe/London
timeformat = %H:%M
dateformat = %Y-%m-%d
longdateformat = %Y-%m-%d
datetimeformat = %Y-%m-%d %H:%M
longdatetimeformat = %Y-%m-%d %H:%M
`,
      'calendar/.keep': '',
    })
    const run = (program: string | null, args: readonly string[]): string => {
      const env = { ...process.env, LC_ALL: 'C.UTF-8' }
      const done = spawnSync(program ?? '', args, {
        cwd: folder.path,
        encoding: 'utf8',
        env,
        timeout: 60_000,
        input: 'y\n',
      })
      if (done.status !== 0) throw new Error(`${program} ended with ${done.status}: ${done.stdout}${done.stderr}`)
      return done.stdout
    }
    const seen = (): readonly string[] => {
      run(vdirsyncer, ['-c', 'vdirsyncer.conf', 'sync'])
      const format = '{start-date} {start-time}-{end-time} {title} {status}'
      const listed = run(khal, ['-c', 'khal.conf', 'list', '--day-format', '', '--format', format, '2036-07-01', '60d'])
      return listed
        .split('\n')
        .map((line) => line.trim())
        .filter((line) => line !== '')
    }
    try {
      run(vdirsyncer, ['-c', 'vdirsyncer.conf', 'discover'])
      expect(seen()).toEqual([
        '2036-07-12 19:00-22:00 Gala, with dinner',
        '2036-07-13 19:00-22:00 Reading CONFIRMED',
        '2036-07-14 19:00-22:00 Märchen für Kinder',
      ])
      const described = run(khal, ['-c', 'khal.conf', 'list', '--format', '{description}', '2036-07-12', '1d'])
      expect(described).toContain('Tables of ten;\nblack tie')
      directory.write(
        'events',
        JSON.stringify([
          // Moved, cancelled, withdrawn, and added.
          event(1, 'Gala, with dinner', '2036-07-20T18:30:00Z'),
          event(2, 'Reading', '2036-07-13T18:00:00Z', { Status: 'cancelled' }),
          event(3, 'Märchen für Kinder', '2036-07-14T18:00:00Z', { ShowOnWeb: false }),
          event(5, 'Matinée', '2036-08-01T18:00:00Z'),
        ]),
      )
      expect(seen()).toEqual([
        '2036-07-13 19:00-22:00 Reading CANCELLED',
        '2036-07-20 19:30-22:30 Gala, with dinner',
        '2036-08-01 19:00-22:00 Matinée',
      ])
    } finally {
      await child.stop()
      directory.remove()
    }
  })
})
