import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { assembleAlone } from '../../src/app/assemble.ts'
import { loadConfiguration } from '../../src/config/read-configuration.ts'
import { readSmallFile } from '../../src/time/read-text.ts'
import { systemTime } from '../../src/time/time.ts'
import { slowness } from '../support/machine-speed.ts'
import { costOf } from '../support/turns.ts'

// Run by hostile-workbooks.test.ts on each runtime, with a folder of workbooks: what reading each of them costs and
// comes to, a line each.

const [folder = ''] = process.argv.slice(2)
const MB = 1024 * 1024
/** Turns are told as they would be on the machine on which their limit was measured. */
const SLOWNESS = await slowness()
const residentMb = (): number => process.memoryUsage.rss() / MB

async function read(name: string) {
  const text = `freshness: { maxAge: 1h }\ncrm: { kind: files, directory: ., events: { from: '${name}', fields: { Id: Id, Name: Name } } }`
  const loaded = await loadConfiguration({ path: join(folder, 'm.yaml'), text, env: {}, readFile: readSmallFile })
  if (!loaded.ok) throw new Error('the configuration is wrong', { cause: loaded.problems })
  const {
    reading: { replica },
    crm,
  } = await assembleAlone(loaded.configuration, systemTime, () => {})
  const before = residentMb()
  let highest = before
  const watch = setInterval(() => (highest = Math.max(highest, residentMb())), 1)
  let failure: string | null = null
  const { turnMs, workMs } = await costOf(async () => {
    const ended = await replica.events.refresh.attempt()
    failure = ended.ok ? null : ended.failure.message
  })
  clearInterval(watch)
  highest = Math.max(highest, residentMb())
  const served = replica.events.list.served
  const withheld = Array.from(replica.events.list.withheldRows()).length
  await replica.stop()
  await crm.close()
  return { turnMs: turnMs / SLOWNESS, workMs, grownMb: highest - before, failure, served, withheld }
}

// The first one pays for what all of them load.
for (const name of ['plain.xlsx', ...readdirSync(folder).filter((file) => file.endsWith('.xlsx'))]) {
  console.log(JSON.stringify({ name: basename(name, '.xlsx'), ...(await read(name)) }))
}
