import { describe, expect, it } from 'bun:test'
import { runCommand, STACK } from './run-command.ts'
import { CONFIGURATION, WorkFolder } from './work-folder.ts'
import { RUNTIMES } from '../support/depth.ts'

const SHOWN = '7e016ac6-5cee-4fd6-be12-faa34a6761ef'
const DRAFT = '1f1a33d2-a44d-4b81-964c-7fb5bb5bfcaa'
const NEVER = '00000000-0000-4000-8000-000000000000'

describe('marquee explain where no instance runs (SURFACE: Commands)', () => {
  it('reads the CRM, tells each step, and ends with 0 where the record is shown, else with 1', async () => {
    using folder = new WorkFolder({ 'marquee.yaml': CONFIGURATION })
    folder.copySample('crm')
    const cases = [
      [
        SHOWN,
        0,
        /^The event 7e016\S+ is on the web \(operations is null, so no instance was asked; the CRM was read now\)\.\n {2}yes /,
      ],
      [`{${SHOWN.toUpperCase()}}`, 0, /is 7e016ac6-5cee-4fd6-be12-faa34a6761ef here/],
      [DRAFT, 1, /is not on the web.*\n[^]* {2}NO .*not marked to be shown on the web/],
      [NEVER, 1, /^"00000000-0000-4000-8000-000000000000" is not on the web[^]*NO .*in neither list/],
      ['42', 1, /NO .*"42" is not an id: a GUID is expected/],
      ['', 1, /NO .*"" is not an id/],
      ['../ready?x#y%', 1, /is not an id/],
      ['\u001b[31m', 1, /\\u001b\[31m/],
    ] as const
    const ends = await Promise.all(cases.map(([id]) => runCommand(['explain', id], { cwd: folder.path })))
    for (const [index, [id, status, says]] of cases.entries()) {
      const end = ends[index]
      expect([id, end?.status, end?.stderr]).toEqual([id, status, ''])
      expect(end?.stdout).toMatch(says)
      expect(end?.stdout).not.toMatch(STACK)
    }
  })

  it.each(RUNTIMES)(
    '%s: finds records by a part of their title, served or not, as the dashboard does',
    async (runtime) => {
      using folder = new WorkFolder({ 'marquee.yaml': CONFIGURATION })
      folder.copySample('crm')
      const one = await runCommand(['explain', 'LATE lantern'], { cwd: folder.path, runtime })
      expect(one.stdout).toMatch(
        /^The event [-0-9a-f]{36} is on the web .*\n {2}yes {2}The title "LATE lantern" is in the names of 1 record\./,
      )
      const none = await runCommand(['explain', 'no such title'], { cwd: folder.path, runtime })
      expect(none.status).toBe(1)
      expect(none.stdout).toContain('"no such title" is not an id')
    },
  )

  it('--json prints one object with exactly the members that are promised, on both runtimes', async () => {
    using folder = new WorkFolder({ 'marquee.yaml': CONFIGURATION })
    folder.copySample('crm')
    for (const runtime of RUNTIMES) {
      for (const [id, kind, shown] of [
        [SHOWN, 'event', true],
        [DRAFT, 'event', false],
        ['53b08621-ae96-444f-a44f-55d91d92cff9', 'venue', true],
        [NEVER, null, false],
        ['nonsense', null, false],
      ] as const) {
        const { status, stdout, stderr } = await runCommand(['explain', id, '--json'], { cwd: folder.path, runtime })
        expect([status, stderr]).toEqual([shown ? 0 : 1, ''])
        const told = JSON.parse(stdout) as { steps: { ok: boolean }[] }
        expect(told.steps.every(({ ok }) => ok)).toBe(shown)
        expect(Object.keys(told)).toEqual(['id', 'kind', 'shown', 'steps'])
        expect(told).toMatchObject({ id, kind, shown })
        for (const step of told.steps) {
          expect(Object.keys(step)).toEqual(['step', 'ok', 'detail'])
          expect(Object.values(step).map((value) => typeof value)).toEqual(['string', 'boolean', 'string'])
        }
      }
    }
  })

  it('says on stderr what could not be read, and ends with 1', async () => {
    using folder = new WorkFolder({ 'marquee.yaml': CONFIGURATION })
    const { status, stdout, stderr } = await runCommand(['explain', SHOWN, '--json'], { cwd: folder.path })
    expect(status).toBe(1)
    expect(stderr).toMatch(
      /^the events could not be read: there is no directory \S+\nthe venues could not be read: .*\n$/,
    )
    expect(JSON.parse(stdout)).toMatchObject({ id: SHOWN, kind: null, shown: false })
  })
})
