import { type LineStream, fileLines, LineSink, lostLine } from '../observe/line-sink.ts'
import { codeOf } from '../observe/system-error.ts'
import { systemTime } from '../time/time.ts'
import { withTimeout } from '../time/waiting.ts'

/** How long an end waits for a reader of the output that stands still. */
const LAST_LINES_MS = 1000

type Standard = typeof process.stdout | typeof process.stderr

/** Whoever read the output has closed it: `check | head` wants no more. */
let isReaderGone = false
const stdout = streamOf(process.stdout)
const output = sinkOf(stdout, !process.stdout.isTTY)
const errors = sinkOf(streamOf(process.stderr), false)

function streamOf(stream: Standard): LineStream {
  return (stream.isTTY ? null : fileLines(stream.fd)) ?? stream
}

function sinkOf(stream: LineStream, isJson: boolean): LineSink {
  const noting: LineStream = {
    write: (text, then) =>
      stream.write(text, (cause, written) => {
        if (stream === stdout && codeOf(cause) === 'EPIPE') isReaderGone = true
        then(cause, written)
      }),
    on: (event, listener) => stream.on(event, listener),
  }
  return new LineSink(noting, (lost) => lostLine(lost, isJson, Date.now()))
}

export const out = (line: string): void => output.write(line)
export const error = (line: string): void => errors.write(line)
/** An answer that a script goes on with is whole, or said not to be; how slowly it is read is the reader's affair. */
export const answer = (text: string): Promise<boolean> =>
  new Promise((resolve) => {
    stdout.write(`${text}\n`, (cause) => {
      if (cause !== undefined && cause !== null) error('the answer could not be written to standard output')
      resolve(cause === undefined || cause === null)
    })
  })
export const droppedLines = (): number => output.dropped

/** Pipes are written to in the background: what was said must be out before the end, where anybody reads it. */
export async function lastLines(): Promise<void> {
  await withTimeout(systemTime, LAST_LINES_MS, Promise.all([output.drained(), errors.drained()]))
}

/** The status to end with: 1 in place of 0 if lines of the output were lost, which is said. */
export async function statusOfOutput(status: number, isStatusTheAnswer: boolean): Promise<number> {
  if (output.dropped === 0 || isReaderGone) return status
  error(`the output could not be written to standard output (${output.dropped} lines were lost)`)
  await lastLines()
  return status === 0 && !isStatusTheAnswer ? 1 : status
}
