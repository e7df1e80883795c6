import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const FILE = 'SHA256SUMS'

/** Writes the SHA-256 of each file of the folder into its SHA256SUMS, as `sha256sum --check` reads it. */
export function writeChecksums(folder: string): void {
  const names = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile() && entry.name !== FILE)
  const lines = names.map(({ name }) => `${sha256(readFileSync(join(folder, name)))}  ${name}\n`)
  writeFileSync(
    join(folder, FILE),
    lines.toSorted((left, right) => (left.slice(66) < right.slice(66) ? -1 : 1)).join(''),
  )
}

function sha256(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex')
}
