import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DocsFolder } from './docs-folder.ts'
import { reproducePage } from './docs-page.ts'
import { fieldTable } from './field-table.ts'

const ROOT = join(import.meta.dirname, '..')

/** The pages whose examples are really run. */
export const DOCS_PAGES = [
  'README.md',
  'docs/consuming.md',
  'docs/publishing-from-files.md',
  'docs/running.md',
] as const

/** Runs the examples of a page and returns the page with their results. */
export async function reproduced(name: string): Promise<string> {
  const folders = new Map<string, DocsFolder>()
  try {
    return await reproducePage(
      withFieldTables(readFileSync(join(ROOT, name), 'utf8')),
      async ({ kind, folder, what, content }) => {
        if (kind === 'show') return asText(readFileSync(join(ROOT, 'test', folder, what), 'utf8'))
        const existing = folders.get(folder)
        const docsFolder = existing ?? new DocsFolder(folder)
        if (existing === undefined) folders.set(folder, docsFolder)
        if (kind === 'run') return (await docsFolder.run(what)) ?? content
        if (kind === 'answer') docsFolder.answer(what, content)
        else docsFolder.write(what, content)
        return content
      },
    )
  } finally {
    await Promise.all([...folders.values()].map((folder) => folder.remove()))
  }
}

/** Regenerates the tables of fields. */
function withFieldTables(page: string): string {
  return page.replaceAll(
    /<!-- fields (\w+) -->\n\n(?:\|.*\n)*/g,
    (_, kind: string) => `<!-- fields ${kind} -->\n\n${fieldTable(kind)}`,
  )
}

/** Removes the byte order mark and CR, which a page cannot show. */
function asText(content: string): string {
  return content.replace(/^\ufeff/, '').replaceAll('\r\n', '\n')
}
