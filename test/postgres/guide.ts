import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../support/child.ts'

const GUIDE: string = readFileSync(join(ROOT, 'docs/crm/postgres.md'), 'utf8')

/** The blocks of the guide's text in a language that stand under a comment, in their order. */
function blocks(language: string, comment: string): readonly string[] {
  const pattern = new RegExp(`<!-- ${comment} -->\\n\`\`\`${language}\\n([\\s\\S]*?)\\n\`\`\``, 'g')
  return [...GUIDE.matchAll(pattern)].map(([, block = '']) => block)
}

/** The tables as an operator may have them, then what the guide has the operator add: triggers, views and the role. */
export const SET_UP: readonly string[] = blocks('sql', 'run as the owner of the database')

/** What the guide has one publish at last. */
export const PUBLISH: string = blocks('sql', 'run as the owner of the database, then look').join('\n')
