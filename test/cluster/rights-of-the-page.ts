import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../support/child.ts'

/** What the page has an operator grant to the user of the store, as words of ACL SETUSER. */
export const RIGHTS: readonly string[] =
  /^user marquee on >change-me (.*)$/m.exec(readFileSync(join(ROOT, 'docs/instances.md'), 'utf8'))?.[1]?.split(' ') ??
  []
