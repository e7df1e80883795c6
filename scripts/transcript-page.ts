import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { join } from 'node:path'
import type { Subject } from '../test/contract/subject.ts'
import { startOverHttp } from '../test/contract/over-http.ts'
import type { Lists } from '../test/support/files-directory.ts'
import type { Reply } from '../test/support/reply.ts'
import { ownHeaders } from '../test/support/reply.ts'
import type { Scene, Shot } from './transcript-scenes.ts'
import { SCENES } from './transcript-scenes.ts'

const INTRODUCTION = `# What it answers

The answers for single records in their six formats, and the errors, as received from a real process that serves the sample.
[Using it](consuming.md) describes lists and calendars. \`./bun scripts/transcript.ts\` generates this page, and a test fails if an
answer differs from it. Each request was sent to Marquee on Bun and on Node, and the answers were the same: status, headers and every
byte of the body.

The headers \`Date\`, \`Connection\` and \`Keep-Alive\` are omitted. \`Age\`, \`max-age\` and \`Retry-After\` depend on the moment: here the
data is always 2 seconds old, and the next try is always 1 second away.
`

const SAMPLE: Lists = { events: sampleList('events'), venues: sampleList('venues') }

/** Generates docs/transcript.md from current answers on both runtimes. Throws if they differ. */
export async function transcriptPage(): Promise<string> {
  let page = INTRODUCTION
  let before: Scene | null = null
  let services: readonly Subject[] = []
  try {
    for (const scene of SCENES) {
      // Consecutive scenes with the same settings share their services.
      if (before === null || before.crm !== scene.crm || !isDeepStrictEqual(before.settings, scene.settings)) {
        await Promise.all(services.map((service) => service.stop()))
        services = await startBoth(scene)
        before = scene
      }
      page += `\n## ${scene.title}\n`
      for (const shot of scene.shots) page += await describeShot(shot, services)
    }
  } finally {
    await Promise.all(services.map((service) => service.stop()))
  }
  return page
}

async function startBoth({ settings, crm }: Scene): Promise<readonly Subject[]> {
  const lists = crm === 'none' ? null : SAMPLE
  const started = await Promise.all([startOverHttp('bun')(settings, lists), startOverHttp('node')(settings, lists)])
  return started
}

async function describeShot(shot: Shot, [onBun, onNode]: readonly Subject[]): Promise<string> {
  const { says, path } = shot
  const replies: Reply[] = []
  for (const service of [onBun, onNode]) {
    if (service !== undefined) replies.push(await service.ask(path, shot))
  }
  const [bun, node] = replies
  if (bun === undefined || node === undefined) throw new Error('two services were expected')
  const [shown, other] = [responseOf(bun), responseOf(node)]
  if (shown !== other) throw new Error(`Bun and Node differ for ${path}:\n${shown}\n\n${other}`)
  return `\n${says}\n\n\`\`\`\n$ ${curlOf(shot)}\n${shown}\n\`\`\`\n`
}

/** The response with fixed values for what changes with time, and sorted headers. */
function responseOf(reply: Reply): string {
  const statusLine = reply.head.split('\r\n', 1)[0]
  const lines = Object.entries(ownHeaders(reply)).map(([name, value]) => `${name}: ${still(name, value)}\n`)
  return `${statusLine}\n${lines.join('')}\n${reply.body}`.trimEnd()
}

function still(name: string, value: string): string {
  if (name === 'age') return '2'
  if (name === 'retry-after') return '1'
  return name === 'cache-control' ? value.replace(/^public, max-age=\d+$/, 'public, max-age=28') : value
}

function curlOf({ method = 'GET', path, headers = [] }: Shot): string {
  const option = method === 'GET' ? '-i' : method === 'HEAD' ? '-I' : `-i -X ${method}`
  const lines = headers.map(([name, value]) => ` -H '${name}: ${value}'`)
  return `curl ${option}${lines.join('')} 'http://127.0.0.1:8080${path}'`
}

function sampleList(name: string): string {
  return readFileSync(join(import.meta.dirname, '../sample', `${name}.json`), 'utf8')
}
