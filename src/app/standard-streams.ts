import { type LineStream, fileLines, LineSink, lostLine } from '../observe/line-sink.ts'
import { codeOf } from '../domain/system-error.ts'
import { systemTime } from '../time/time.ts'
import { withTimeout } from '../time/waiting.ts'

/** How long the process waits at its end for a stalled reader of its output. */
const LAST_LINES_MS = 1000

type Standard = typeof process.stdout | typeof process.stderr

/** The reader has closed the output, as in `check | head`. */
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
/** Writes a command's answer whole, however slowly it is read. Reports a failure and resolves to false. */
export const answer = (text: string): Promise<boolean> =>
  new Promise((resolve) => {
    stdout.write(`${text}\n`, (cause) => {
      if (cause !== undefined && cause !== null) error('the answer could not be written to standard output')
      resolve(cause === undefined || cause === null)
    })
  })
export const droppedLines = (): number => output.dropped

/** Waits for lines still being written, because pipes are written to in the background. */
export async function lastLines(): Promise<void> {
  await withTimeout(systemTime, LAST_LINES_MS, Promise.all([output.drained(), errors.drained()]))
}

/** Returns the exit status: 1 instead of 0 if output lines were lost, which is reported. */
export async function statusOfOutput(status: number, isStatusTheAnswer: boolean): Promise<number> {
  if (output.dropped === 0 || isReaderGone) return status
  error(`the output could not be written to standard output (${output.dropped} lines were lost)`)
  await lastLines()
  return status === 0 && !isStatusTheAnswer ? 1 : status
}
