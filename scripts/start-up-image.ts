/**
 * Writes docs/images/start-up.svg: what a start prints on a terminal, drawn as it is. It starts the service for real, so the
 * ports 8080 and 8081 must be free.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { drawTerminal } from './draw-terminal.ts'
import { startUpOnTerminal } from './start-up-on-terminal.ts'

const printed = await startUpOnTerminal(['serve'], process.env)
writeFileSync(join(import.meta.dirname, '../docs/images/start-up.svg'), drawTerminal('./marquee serve', printed))
