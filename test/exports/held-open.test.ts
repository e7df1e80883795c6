import { describe, expect, it } from 'bun:test'
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '../support/eventually.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import { serve } from '../support/marquee-process.ts'
import { askOperations } from '../support/operations-client.ts'
import { workbook } from '../support/workbook-file.ts'

const ID = '5f6c2a3e-8d0b-4c57-9e21-0a4b7d9c1e34'
const BLOCK = {
  fields: { Id: 'Nr', Name: 'Titel', Start: 'Beginn', Finish: { lasting: '2h' } },
  showOnWeb: null,
  active: null,
}

function season(title: string): Buffer {
  const rows = [
    ['Nr', 'Titel', 'Beginn'],
    [ID, title, '2036-06-21 19:30'],
  ]
  return workbook([{ name: 'Spielplan', rows }])
}

interface Status {
  readonly ready: boolean
  readonly lists: { readonly events: { readonly served: number; readonly lastError: string | null } }
}

describe('a workbook that somebody has open in Excel (SURFACE: Files as they are exported)', () => {
  // The second is one that only its first bytes tell from text.
  it.each([
    ['bun', 'Saison.xlsx'],
    ['node', 'Saison.xlsx'],
    ['bun', 'Saison.csv'],
    ['node', 'Saison.csv'],
  ] as const)('%s: %s is read as any file that changes, and what was served stays', async (runtime, file) => {
    const settings = {
      operations: { port: 0 },
      freshness: { maxAge: '10m', refreshEvery: '100ms' },
      crm: { kind: 'files', directory: './crm', events: { from: file, ...BLOCK } },
    }
    const directory = new FilesDirectory(settings, { venues: '[]' })
    const path = (name: string): string => join(directory.crm, name)
    writeFileSync(path(file), season('Figaro'))
    const { child, listening } = await serve(runtime, directory.configuration)
    try {
      const title = async (): Promise<unknown> => {
        const reply = await fetch(`${listening.address}api/events/${ID}`)
        const { Name } = (await reply.json()) as { readonly Name?: unknown }
        return Name
      }
      const status = async (): Promise<Status> =>
        JSON.parse((await askOperations(`${listening.operations ?? ''}status`))?.text ?? '') as Status
      const said = (part: string): Promise<Status> =>
        eventually(status, ({ lists }) => lists.events.lastError?.includes(part) === true)
      await eventually(title, (name) => name === 'Figaro')

      // Excel puts its lock beside the file: not a workbook, and of the same ending.
      writeFileSync(path(`~$${file}`), Buffer.alloc(165, 0x20))
      // A save in place that has come half way: the index of a ZIP file is at its end.
      const next = season('Tosca')
      writeFileSync(path(file), next.subarray(0, next.length / 2))
      await said(`${file}: this is not a complete .xlsx workbook`)
      expect(await title()).toBe('Figaro')
      writeFileSync(path(file), next)
      await eventually(title, (name) => name === 'Tosca')

      // As Excel does it: the old file goes, a file of another name takes its place.
      writeFileSync(path('8A3F10'), season('Carmen'))
      renameSync(path(file), path('9B4E21.tmp'))
      await said(`there is no ${file}`)
      expect(await title()).toBe('Tosca')
      renameSync(path('8A3F10'), path(file))
      await eventually(title, (name) => name === 'Carmen')
      rmSync(path(`~$${file}`))
      const { ready, lists } = await status()
      expect([ready, lists.events.served, lists.events.lastError]).toEqual([true, 1, null])
    } finally {
      await child.stop()
    }
  })
})
