import module from 'node:module'
import { fileURLToPath } from 'node:url'
import { EarlySignals } from './app/early-signals.ts'

const args = process.argv.slice(2)
const isService = args.includes('serve')
const signals = new EarlySignals((signal, listener) => process.on(signal, listener), isService)
// Node keeps what it compiled here, by the digest of each source: without it a start takes twice as long. Beside the sources
// rather than in a folder that others can write to; where it cannot be written nothing is kept. Bun reads fast without. For
// this very file it comes too late, and Node loads what strips types, some 30 ms: `npm run start:node` names the folder before.
if (process.versions['bun'] === undefined) {
  module.enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/marquee', import.meta.url)))
}
const { run } = await import('./cli/program.ts')
const { answer, droppedLines, error, lastLines, out, statusOfOutput } = await import('./app/standard-streams.ts')

const isTerminal = process.stdout.isTTY
const surroundings = { env: process.env, cwd: process.cwd(), isTerminal, out, error, answer, droppedLines, signals }
const ended = await run(args, surroundings)
await lastLines()
const isStatusTheAnswer = args.includes('ready') || args.includes('accept')
const status = isService ? ended : await statusOfOutput(ended, isStatusTheAnswer)
// A thread that waits for a file system or a name server that does not answer would keep Node from ending: another program
// in its place has no such thread.
const mayBeHeldUp = process.versions['bun'] === undefined && process.platform !== 'win32'
if (mayBeHeldUp && process.getActiveResourcesInfo().some((name) => /^FSReq|^GetAddrInfo/.test(name))) {
  process.execve?.(process.execPath, [process.execPath, '--disable-sigusr1', '--eval', `process.exit(${status})`])
}
process.exit(status)
