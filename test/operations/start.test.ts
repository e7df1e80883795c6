import { expect, it } from 'bun:test'
import type { Runtime } from '../support/child.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import { serve } from '../support/marquee-process.ts'

const SETTINGS = { operations: { port: 0 }, freshness: { bound: '1h', refreshEvery: '1h' } }

it.each(['bun', 'node'] as Runtime[])(
  'a start on %s reads each list once, and says that it listens when all answers, the description too',
  async (runtime) => {
    const directory = new FilesDirectory(SETTINGS, { events: '[]', venues: '[]' })
    const { child, listening } = await serve(runtime, directory.configuration)
    const metrics = await (await fetch(`${listening.operations}metrics`)).text()
    expect(metrics).toContain('\nmarquee_crm_requests_total{outcome="ok"} 2\n')
    expect((await fetch(`${listening.address}api/openapi.json`)).status).toBe(200)
    expect(await child.stop()).toBe(0)
    directory.remove()
  },
)
