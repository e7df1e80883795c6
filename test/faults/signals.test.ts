import { describe, expect, it } from 'bun:test'
import { EVENT, EVENT_ROW } from '../contract/rows.ts'
import { requestText } from '../contract/over-http.ts'
import type { Runtime } from '../support/child.ts'
import { Child, programOf, ROOT } from '../support/child.ts'
import { BOTH_RUNTIMES, caseOrAll } from '../support/depth.ts'
import { eventually } from '../support/eventually.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import { freePort } from '../support/free-port.ts'
import { heldList } from '../support/held-list.ts'
import { untilListening } from '../support/marquee-process.ts'
import { askOperations } from '../support/operations-client.ts'
import { accepts, exchange } from '../support/raw-client.ts'
import { parseReply } from '../support/reply.ts'
import { silentCrm } from './silent-crm.ts'

const CTRL_C = '\x03'
const TARGET = `/api/events/${EVENT}`

/** A service that `start` starts, with a request in flight: it waits for a read that lasts until the list is released. */
async function inFlight(start: (configuration: string) => Child) {
  const [port, operationsPort] = [await freePort(), await freePort()]
  const list = await heldList([EVENT_ROW])
  const directory = new FilesDirectory(
    { listen: { port }, operations: { port: operationsPort }, ...list.settings },
    null,
  )
  const child = start(directory.configuration)
  await eventually(
    () =>
      exchange(port, requestText(TARGET)).then(
        (bytes) => parseReply(bytes).status,
        () => 0,
      ),
    (status) => status === 200,
  )
  list.hold()
  const answer = exchange(port, `GET ${TARGET} HTTP/1.1\r\nHost: x\r\n\r\n`)
  await eventually(
    () => askOperations(`http://127.0.0.1:${operationsPort}/status`),
    (reply) => reply?.text.includes('"waiting":1') === true,
  )
  return { child, port, directory, list, answer }
}

type InFlight = Awaited<ReturnType<typeof inFlight>>

/** Nobody listens any more, the request has its whole answer, and the service ends with `expected`. */
async function endsInOrder(
  { child, port, directory, list, answer }: InFlight,
  expected: number | NodeJS.Signals,
): Promise<void> {
  await eventually(
    () => accepts(port),
    (accepted) => !accepted,
  )
  list.release()
  const { status, body } = parseReply(await answer)
  expect([status, JSON.parse(body)]).toEqual([200, expect.objectContaining({ Id: EVENT })])
  expect(await child.exited).toBe(expected)
  list.close()
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
