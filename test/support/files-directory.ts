import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type ListName = 'events' | 'venues'

/** The JSON text of each list. An omitted list has no file. */
export type Lists = { readonly [Name in ListName]?: string }

export type Settings = Readonly<Record<string, unknown>>

const left = new Set<FilesDirectory>()
// A failing test must leave nothing behind.
process.on('exit', () => {
  for (const directory of left) directory.remove()
})

/** A temporary directory with a configuration and the two lists of a files CRM. */
export class FilesDirectory {
  readonly path: string = mkdtempSync(join(tmpdir(), 'marquee-files-'))
  readonly configuration: string = join(this.path, 'marquee.yaml')
  readonly crm: string = join(this.path, 'crm')

  /** @param lists `null` for a missing CRM directory */
  constructor(settings: Settings, lists: Lists | null) {
    left.add(this)
    this.configure(settings)
    if (lists === null) return
    if (lists.events !== undefined) this.write('events', lists.events)
    if (lists.venues !== undefined) this.write('venues', lists.venues)
  }

  configure(settings: Settings): void {
    const defaults = { operations: null, crm: { kind: 'files', directory: './crm' } }
    const listen = { port: 0, ...objectAt(settings, 'listen') }
    // JSON is also YAML.
    writeFileSync(this.configuration, JSON.stringify({ ...defaults, ...settings, listen }))
  }

  /** Replaces a list atomically: no reader sees half of it. */
  write(list: ListName, text: string): void {
    mkdirSync(this.crm, { recursive: true })
    const next = join(this.path, `${list}.next`)
    writeFileSync(next, text)
    renameSync(next, join(this.crm, `${list}.json`))
  }

  remove(): void {
    left.delete(this)
    rmSync(this.path, { recursive: true, force: true })
  }
}

function objectAt(settings: Settings, key: string): object {
  const value = settings[key]
  return typeof value === 'object' && value !== null ? value : {}
}
