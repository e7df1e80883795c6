import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { ROOT } from '../support/child.ts'

/** A folder that a person works in: files by their relative path. */
export class WorkFolder {
  readonly path: string = mkdtempSync(join(tmpdir(), 'marquee-work-'))

  constructor(files: Readonly<Record<string, string | Uint8Array>> = {}) {
    for (const [name, content] of Object.entries(files)) this.write(name, content)
  }

  at(name: string): string {
    return join(this.path, name)
  }

  write(name: string, content: string | Uint8Array): void {
    mkdirSync(dirname(this.at(name)), { recursive: true })
    writeFileSync(this.at(name), content)
  }

  remove(name: string): void {
    rmSync(this.at(name), { recursive: true })
  }

  /** Puts the sample's lists into a folder of it. */
  copySample(name: string): void {
    cpSync(join(ROOT, 'sample'), this.at(name), { recursive: true })
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true })
  }
}

/** A configuration of the files in ./crm that takes no port of this machine's. */
export const CONFIGURATION = 'operations: null\nlisten: { port: 0 }\ncrm: { kind: files, directory: ./crm }\n'
