import { run } from './commands/program.ts'
import { answer, droppedLines, error, lastLines, out } from './commands/standard-streams.ts'

const isTerminal = process.stdout.isTTY
const surroundings = { env: process.env, cwd: process.cwd(), isTerminal, out, error, answer, droppedLines }
const status = await run(process.argv.slice(2), surroundings)
await lastLines()
process.exit(status)
