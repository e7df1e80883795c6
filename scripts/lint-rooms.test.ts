import { describe, expect, it } from 'bun:test'
import rooms from './lint-rooms.js'

const OPTIONS = {
  rooms: {
    domain: { imports: [] },
    sync: { doors: ['port.ts'] },
    'crm/files': { doors: ['files-crm.ts'] },
    app: { doors: [] },
  },
  exceptions: { sync: ['drift.ts'] },
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
  it('let each other in by their doors, and by the exceptions that are listed', () => {
    expect(said('src/app/run.ts', '../sync/port.ts')).toEqual([])
    expect(said('src/app/run.ts', '../sync/drift.ts')).toEqual([])
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
