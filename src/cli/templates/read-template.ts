import { readFileSync } from 'node:fs'

/** Returns the text of a file that `init` writes. The executable embeds these files (scripts/build-executable.ts). */
export function readTemplate(name: string): string {
  const folder = name === 'marquee-connector.d.ts' ? '../../crm/connector/' : './'
  return readFileSync(new URL(`${folder}${name}`, import.meta.url), 'utf8')
}
