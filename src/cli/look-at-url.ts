import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fetchWebFile } from '../crm/files/whole-file.ts'
import { type Table, lookAt } from '../proposal/table.ts'
import { openHttpClient } from '../runtime/outgoing.ts'

/** Downloads a file and examines it, or explains in a sentence why that is impossible. */
export async function lookAtUrl(
  url: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<readonly Table[] | string> {
  const fetched = await fetchWebFile(url, env, openHttpClient)
  if (!('bytes' in fetched)) return fetched.message
  const folder = await mkdtemp(join(tmpdir(), 'marquee-'))
  try {
    const path = join(folder, `list.${fetched.format}`)
    await writeFile(path, fetched.bytes)
    const looked = await lookAt(path, fetched.name)
    if (typeof looked === 'string') return `${fetched.name} ${looked}`
    return looked.map((table) => ({ ...table, path: url, isOnWeb: true }))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
