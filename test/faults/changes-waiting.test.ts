import { describe, expect, it } from 'bun:test'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { eventually } from '../support/eventually.ts'
import { BOTH_RUNTIMES } from '../support/depth.ts'
import { Victim } from './victim.ts'

const MOST = 1000
const SPAN_MS = 3000
const MOST_MB = 40
const SETTINGS = { freshness: { maxAge: '5m', refreshEvery: '200ms' }, feeds: { changes: 'on' } }

function rows(Name: string): string {
  const times = { Start: '2036-07-12T19:30:00Z', Finish: '2036-07-12T23:00:00Z' }
  return JSON.stringify([{ Id: 'a0000000-0000-4000-8000-000000000001', Name, ...times, ShowOnWeb: true }])
}

/** A caller on a connection of its own. What it received so far is in `text`. */
class Caller {
  readonly socket: Socket
  text = ''

  constructor(port: number) {
    this.socket = connect(port, '127.0.0.1')
    this.socket.on('data', (chunk) => (this.text += chunk.toString('latin1')))
  }

  readonly ask = (target: string): void => {
    this.socket.write(`GET ${target} HTTP/1.1\r\nHost: marquee.example\r\n\r\n`)
  }
}

async function callersOf(port: number, count: number): Promise<readonly Caller[]> {
  const callers: Caller[] = []
  while (callers.length < count) {
    const caller = new Caller(port)
    await once(caller.socket, 'connect')
    callers.push(caller)
  }
  return callers
}

/** Processor time, ms (Linux: /proc/PID/stat, in hundredths of a second). */
function processorMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}

describe.each(BOTH_RUNTIMES)('callers that wait for a change, on %s', (runtime) => {
  it('cost their connections and nothing else; one more is told when to come again, and all hear of the change', async () => {
    const victim = await Victim.start(runtime, SETTINGS, { events: rows('first'), venues: '[]' })
    const { Next } = JSON.parse((await victim.ask('/api/changes')).body) as { readonly Next: string }
    const target = Next.slice(1)
    const callers = await callersOf(victim.port, MOST)
    const haveAll = async (word: string): Promise<unknown> =>
      eventually(
        async () => callers.filter(({ text }) => text.includes(word)).length,
        (count) => count === MOST,
      )
    for (const { ask } of callers) ask(target)
    await haveAll('"More"')
    const [connectedMb, quietMs] = [victim.residentMb, await spent(victim)]
    for (const { ask } of callers) ask(`${target}&wait=60s`)
    const refused = await eventually(
      () => victim.ask(`${target}&wait=1s`),
      ({ status }) => status === 503,
    )
    expect(refused.headers.get('retry-after')).toBe('5')
    const [waitingMb, waitingMs] = [victim.residentMb, await spent(victim)]
    expect(waitingMb - connectedMb).toBeLessThan(MOST_MB)
    expect(waitingMs).toBeLessThan(quietMs + SPAN_MS / 10)
    const shown = [connectedMb, waitingMb].map((mb) => mb.toFixed(0)).join(' and ')
    console.log(
      `${runtime}, ${MOST} connections, without and with a wait: ${shown} MB, ${quietMs} and ${waitingMs} ms in ${SPAN_MS}`,
    )
    victim.directory.write('events', rows('second'))
    await haveAll('"updated"')
    for (const { socket } of callers) socket.destroy()
    await victim.stop()
  })
})

/** The processor time of a while in which nothing happens. */
async function spent(victim: Victim): Promise<number> {
  const before = processorMs(victim.pid)
  await Bun.sleep(SPAN_MS)
  return processorMs(victim.pid) - before
}
