import { describe, expect, it } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Runtime } from '../support/child.ts'
import { Child, programOf } from '../support/child.ts'
import { eventually } from '../support/eventually.ts'
import { untilListening } from '../support/marquee-process.ts'
import type { Environment } from './environment.ts'
import { crmSection, fill, idOf, openEnvironment } from './environment.ts'
import { refusal } from './reply.ts'
import type { Fault } from './stand-in.ts'
import { RUNTIMES } from '../support/depth.ts'

/** Far more than a read takes on a loaded machine: a list that is not served for that reason proves nothing. */
const MAX_AGE_MS = 6000

const reply = (status: number, body: string): Fault => ({
  kind: 'reply',
  reply: { status, headers: { 'content-type': 'text/html' }, body },
})

/** What links to changes can die of, other than by a refusal that Dataverse documents. */
const DEATHS: Readonly<Record<string, Fault>> = {
  '500': { kind: 'reply', reply: refusal(500, '0x80040216', 'An unexpected error occurred') },
  HTML: reply(200, '<!doctype html><p>Sign in</p>'),
  'an empty body': reply(200, ''),
  'no answer': { kind: 'hang' },
  'a dropped connection': { kind: 'drop' },
}

interface Served {
  readonly environment: Environment
  /** The name of an event as it is served, or the status of what is. */
  readonly name: (number: number) => Promise<string>
  readonly stop: () => Promise<Child>
}

async function serve(runtime: Runtime, requestTimeout = '5s'): Promise<Served> {
  const environment = await openEnvironment()
  fill(environment, 20)
  const crm = crmSection(environment.standIn, { requestTimeout })
  const freshness = { maxAge: `${MAX_AGE_MS}ms`, refreshEvery: '200ms' }
  const folder = mkdtempSync(join(tmpdir(), 'marquee-cursors-'))
  const path = join(folder, 'marquee.yaml')
  writeFileSync(path, JSON.stringify({ listen: { port: 0 }, operations: null, freshness, crm }))
  const child = new Child(programOf(runtime), ['src/main.ts', 'serve', '--config', path], {
    env: { SECRET: environment.standIn.directory.secret },
  })
  const { listening } = await untilListening(child)
  const name = async (number: number): Promise<string> => {
    const answer = await fetch(`${listening.address}api/events/${idOf(number)}`)
    return answer.ok ? ((await answer.json()) as { Name: string }).Name : String(answer.status)
  }
  await eventually(
    () => name(1),
    (found) => found === 'Event 1',
  )
  const stop = async (): Promise<Child> => {
    await child.stop()
    environment.standIn.close()
    rmSync(folder, { recursive: true })
    return child
  }
  return { environment, name, stop }
}

/** Changes an event, waits until that is served, and looks for two bounds more whether anything is ever too old. */
async function staysServed({ environment, name }: Served): Promise<readonly string[]> {
  environment.events.change(idOf(2), { msevtmgt_name: 'Changed' })
  await eventually(
    () => name(2),
    (found) => found === 'Changed',
  )
  const until = performance.now() + 2 * MAX_AGE_MS
  const names = new Set<string>()
  while (performance.now() < until) {
    names.add(await name(2))
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return [...names]
}

describe.each(RUNTIMES)('links to changes that die for ever (%s)', (runtime) => {
  it('are given up, whatever they die of, while full reads are fine', async () => {
    const outcomes = Object.entries(DEATHS).map(async ([death, fault]) => {
      const served = await serve(runtime, '600ms')
      served.environment.standIn.trap(/events.*deltatoken/, fault, Number.POSITIVE_INFINITY)
      const names = await staysServed(served)
      await served.stop()
      return [death, names]
    })
    expect(await Promise.all(outcomes)).toEqual(Object.keys(DEATHS).map((death) => [death, ['Changed']]))
  })

  it('are taken up again where only the old one was dead', async () => {
    const served = await serve(runtime)
    const { standIn } = served.environment
    const { path: dead = '' } =
      (await eventually(
        async () => standIn.reads.findLast(({ path }) => /events.*deltatoken/.test(path)),
        (asked) => asked !== undefined,
      )) ?? {}
    standIn.traps.push({
      times: Number.POSITIVE_INFINITY,
      isFor: (path) => path === dead,
      fault: DEATHS['HTML'] ?? { kind: 'drop' },
    })
    expect(await staysServed(served)).toEqual(['Changed'])
    const full = standIn.reads.filter(({ path }) => /events\?\$select=[^&]*$/.test(path)).length
    expect(full).toBe(2)
    const { stdout } = await served.stop()
    expect(stdout).not.toContain('read in full each time')
  })

  it('are not even tried where no request can carry them: the list is read in full, and that is said', async () => {
    const served = await serve(runtime)
    served.environment.standIn.query.faults.afterDeltaLinks = ' ü'
    expect(await staysServed(served)).toEqual(['Changed'])
    const { stdout } = await served.stop()
    expect(stdout).toContain('the table msevtmgt_events has change tracking whose links cannot be followed')
    expect(stdout).not.toContain('has no change tracking')
  })
})
