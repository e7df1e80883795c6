import { describe, expect, it } from 'bun:test'
import { readFileSync } from 'node:fs'
import rooms from './lint-rooms.js'

const OPTIONS = {
  rooms: {
    domain: { imports: [] },
    sync: { doors: ['port.ts'] },
    'crm/files': { doors: ['files-crm.ts'] },
    app: { doors: [] },
  },
}

/** The linter's messages about one import. */
function said(from: string, source: string): readonly string[] {
  const messages: string[] = []
  const filename = new URL(`../${from}`, import.meta.url).pathname
  const report = ({ message }: { readonly message: string }): void => void messages.push(message)
  const visitor = rooms.rules['through-doors'].create({ filename, options: [OPTIONS], report })
  visitor.ImportDeclaration?.({ source: { value: source } })
  return messages
}

describe('the rooms', () => {
  it('have at most three doors each, but for the two that are open', () => {
    const { rules } = JSON.parse(readFileSync(new URL('../.oxlintrc.json', import.meta.url), 'utf8')) as {
      readonly rules: {
        readonly 'rooms/through-doors': readonly [
          string,
          { readonly rooms: Readonly<Record<string, { readonly doors?: readonly string[] }>> },
        ]
      }
    }
    const doors = Object.entries(rules['rooms/through-doors'][1].rooms)
    expect(doors.filter(([, room]) => room.doors === undefined).map(([name]) => name)).toEqual(['domain', 'time'])
    expect(doors.filter(([, room]) => (room.doors?.length ?? 0) > 3)).toEqual([])
  })

  it('let each other in by their doors', () => {
    expect(said('src/app/run.ts', '../sync/port.ts')).toEqual([])
    expect(said('src/app/run.ts', '../crm/files/files-crm.ts')).toEqual([])
    expect(said('src/app/run.ts', '../domain/guid.ts')).toEqual([])
  })

  it('refuse an import past a door', () => {
    expect(said('src/app/run.ts', '../sync/poller.ts')).toEqual(['poller.ts is no door of sync: port.ts.'])
    expect(said('src/app/run.ts', '../crm/files/csv-parser.ts')).toEqual([
      'csv-parser.ts is no door of crm/files: files-crm.ts.',
    ])
  })

  it('refuse an import upward', () => {
    expect(said('src/sync/port.ts', '../app/run.ts')).toEqual(['sync does not import app.'])
    expect(said('src/domain/guid.ts', '../sync/port.ts')).toEqual(['domain does not import sync.'])
  })

  it('leave a room to itself, and tests to look wherever they must', () => {
    expect(said('src/sync/replica.ts', './poller.ts')).toEqual([])
    expect(said('src/app/run.test.ts', '../sync/poller.ts')).toEqual([])
  })
})
