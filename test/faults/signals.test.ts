import { describe, expect, it } from 'bun:test'
import { EVENT, EVENT_ROW, LISTS } from '../contract/rows.ts'
import { requestText } from '../contract/over-http.ts'
import type { Runtime } from '../support/child.ts'
import { Child, programOf, ROOT } from '../support/child.ts'
import { BOTH_RUNTIMES, caseOrAll } from '../support/depth.ts'
import { eventually } from '../support/eventually.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import { freePort } from '../support/free-port.ts'
import { untilListening } from '../support/marquee-process.ts'
import { accepts, exchange } from '../support/raw-client.ts'
import { parseReply } from '../support/reply.ts'
import { silentCrm } from './silent-crm.ts'

const CTRL_C = '\x03'
const TARGET = `/api/events/${EVENT}`

/** So many rows that a read of them takes longer than a signal takes to arrive. */
const MANY = `[${Array.from({ length: 20_000 }, (_, index) =>
  JSON.stringify({ ...EVENT_ROW, Id: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}` }),
).join(',')},${JSON.stringify(EVENT_ROW)}]`

/** A service that `start` starts, with a request in flight: it waits for a read that takes a while. */
async function inFlight(start: (configuration: string) => Child) {
  const port = await freePort()
  const settings = {
    listen: { port },
    freshness: { maxAge: 0, refreshEvery: '1h' },
    limits: { drain: '60s', waitFor: '60s' },
  }
  const directory = new FilesDirectory(settings, LISTS)
  const child = start(directory.configuration)
  const status = async (target: string): Promise<number> => parseReply(await exchange(port, requestText(target))).status
  await eventually(
    () => status(TARGET).catch(() => 0),
    (found) => found === 200,
  )
  directory.write('events', MANY)
  let isAnswered = false
  const answer = exchange(port, `GET ${TARGET} HTTP/1.1\r\nHost: x\r\n\r\n`).finally(() => (isAnswered = true))
  // Answered at once, and after the other had been taken.
  expect(await status('/nothing')).toBe(404)
  expect(isAnswered).toBe(false)
  return { child, port, directory, answer }
}

type InFlight = Awaited<ReturnType<typeof inFlight>>

/** The request has its whole answer, the service ends with `expected`, and nobody listens any more. */
async function endsInOrder(
  { child, port, directory, answer }: InFlight,
  expected: number | NodeJS.Signals,
): Promise<void> {
  const { status, body } = parseReply(await answer)
  expect([status, JSON.parse(body)]).toEqual([200, expect.objectContaining({ Id: EVENT })])
  expect(await child.exited).toBe(expected)
  await eventually(
    () => accepts(port),
    (accepted) => !accepted,
  )
  directory.remove()
}

const SCRIPTS: Readonly<Record<Runtime, string>> = { bun: 'start', node: 'start:node' }

function npmArgs(runtime: Runtime, configuration: string): readonly string[] {
  return ['run', '--prefix', ROOT, SCRIPTS[runtime], '--', '--config', configuration]
}

describe.each(BOTH_RUNTIMES)('signals, on %s', (runtime) => {
  const serve = (configuration: string): Child =>
    new Child(programOf(runtime), ['src/main.ts', 'serve', '--config', configuration])

  it('Ctrl-C at npm start on a terminal: what is in flight is answered, and it ends with 0', async () => {
    // util-linux's `script` gives the command a terminal of its own, and ends with its status.
    const started = await inFlight(
      (configuration) =>
        new Child('script', ['-qec', ['exec npm', ...npmArgs(runtime, configuration)].join(' '), '/dev/null'], {
          interactive: true,
        }),
    )
    expect(
      await eventually(
        async () => started.child.stdout,
        (text) => text.includes('Press Ctrl-C to stop'),
      ),
    ).toBeString()
    started.child.type(CTRL_C)
    await endsInOrder(started, 0)
  })

  it('a terminal that is closed: it ends in order rather than hold the port unseen', async () => {
    const started = await inFlight((configuration) => {
      const command = `exec ${programOf(runtime)} ${ROOT}/src/main.ts serve --config ${configuration}`
      return new Child('script', ['-qec', command, '/dev/null'], { interactive: true })
    })
    started.child.signal('SIGKILL')
    await endsInOrder(started, 'SIGKILL')
  })

  // npm itself ends by a SIGHUP.
  it.each(caseOrAll(['SIGTERM', 'SIGINT', 'SIGHUP'] as const))(
    '%s to the whole group, npm and its child: the same',
    async (signal) => {
      const started = await inFlight(
        (configuration) => new Child('npm', npmArgs(runtime, configuration), { interactive: true }),
      )
      started.child.signalGroup(signal)
      await endsInOrder(started, signal === 'SIGHUP' ? signal : 0)
    },
  )

  const pairs = [
    ['SIGINT', 'SIGTERM'],
    ['SIGHUP', 'SIGTERM'],
    ['SIGINT', 'SIGINT'],
    ['SIGTERM', 'SIGTERM'],
    ['SIGTERM', 'SIGHUP'],
  ] as const
  it.each(caseOrAll(pairs, 2))('%s and %s at once are one: it ends in order, with 0', async (first, second) => {
    const started = await inFlight(serve)
    started.child.signal(first)
    started.child.signal(second)
    await endsInOrder(started, 0)
  })

  it('one that comes a second or more after the first ends it at once, with 1; one that comes before does not', async () => {
    const crm = await silentCrm({ limits: { drain: '60s', waitFor: '60s' } })
    const { child, port } = await untilListening(serve(crm.configuration))
    // Waits for what the CRM never says, and so holds up the end.
    const waiting = exchange(port, requestText(TARGET))
    waiting.catch(() => {})
    expect(parseReply(await exchange(port, requestText('/nothing'))).status).toBe(404)
    const signalledMs = performance.now()
    child.signal('SIGTERM')
    let hasEnded = false
    void child.exited.then(() => (hasEnded = true))
    const again = async (): Promise<boolean> => {
      child.signal('SIGINT')
      return hasEnded
    }
    await eventually(again, (ended) => ended)
    expect(performance.now() - signalledMs).toBeGreaterThan(999)
    expect(await child.exited).toBe(1)
    crm.close()
  })
})
