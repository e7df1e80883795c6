import { fileLines, LineSink, lostLine } from '../observe/line-sink.ts'
import { systemTime } from '../replica/time.ts'
import { within } from '../replica/waiting.ts'

/** How long an end waits for a reader of the output that stands still. */
const LAST_LINES_MS = 1000

const output = sinkOf(process.stdout, !process.stdout.isTTY)
const errors = sinkOf(process.stderr, false)

function sinkOf(stream: typeof process.stdout | typeof process.stderr, isJson: boolean): LineSink {
  const lines = stream.isTTY ? null : fileLines(stream.fd)
  return new LineSink(lines ?? stream, (lost) => lostLine(lost, isJson, Date.now()))
}

export const out = (line: string): void => output.write(line)
export const error = (line: string): void => errors.write(line)
/** An answer that a script goes on with is whole, or said not to be; how slowly it is read is the reader's affair. */
export const answer = (text: string): Promise<boolean> =>
  new Promise((resolve) => {
    process.stdout.write(`${text}\n`, (cause) => {
      if (cause !== undefined && cause !== null) error('the answer could not be written to standard output')
      resolve(cause === undefined || cause === null)
    })
  })
export const droppedLines = (): number => output.dropped

/** Pipes are written to in the background: what was said must be out before the end, where anybody reads it. */
export async function lastLines(): Promise<void> {
  await within(systemTime, LAST_LINES_MS, Promise.all([output.drained(), errors.drained()]))
}
