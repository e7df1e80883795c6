/**
 * Writes docs/images/start-up.svg and init-from.svg: the terminal output of a start and of `init --from`. It really
 * starts the service, so ports 8080 and 8081 must be free.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DocsFolder } from './docs-folder.ts'
import { drawTerminal } from './draw-terminal.ts'
import { startUpOnTerminal } from './start-up-on-terminal.ts'

const IMAGES = join(import.meta.dirname, '../docs/images')
const printed = await startUpOnTerminal(['serve'])
writeFileSync(join(IMAGES, 'start-up.svg'), drawTerminal('./marquee serve', printed))

const folder = new DocsFolder('excel')
const said = await folder.run('marquee init files --from crm/Spielplan.xlsx --from crm/Orte.csv')
const [typed = '', ...lines] = said?.trimEnd().split('\n') ?? []
writeFileSync(join(IMAGES, 'init-from.svg'), drawTerminal(typed.replace('$ ', ''), lines.join('\n')))
await folder.remove()
