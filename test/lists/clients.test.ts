import { afterAll, beforeAll, describe, expect, it } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import halfred from 'halfred'
import { Client } from 'ketting'
import { SaxesParser } from 'saxes'
import type { Runtime } from '../support/child.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import type { MarqueeProcess } from '../support/marquee-process.ts'
import { serve } from '../support/marquee-process.ts'

const ROWS = readFileSync(join(import.meta.dirname, '../golden/lists/events-51.rows.json'), 'utf8')
const IDS = (JSON.parse(ROWS) as readonly { readonly Id: string; readonly Start: string }[])
  .toSorted((left, right) => (`${left.Start}${left.Id}` < `${right.Start}${right.Id}` ? -1 : 1))
  .map(({ Id }) => Id)

describe.each([
  ['bun', '/'],
  ['node', '/whats-on'],
] as const)(
  'other people’s libraries walk a list to its end, on %s under %s (contract §4)',
  (runtime: Runtime, basePath) => {
    const directory = new FilesDirectory({ lists: 'on', listen: { basePath } }, { events: ROWS, venues: '[]' })
    let marquee: MarqueeProcess
    let root = ''
    beforeAll(async () => {
      marquee = await serve(runtime, directory.configuration)
      root = new URL(basePath === '/' ? '/' : `${basePath}/`, marquee.listening.address).href
    })
    afterAll(async () => {
      await marquee.child.stop()
      directory.remove()
    })

    it('ketting, by the relation next', async () => {
      let resource = new Client(root).go('api/events?limit=20')
      const seen: string[] = []
      for (;;) {
        const state = await resource.get()
        for (const embedded of state.getEmbedded()) seen.push((embedded.data as { readonly Id: string }).Id)
        if (!state.links.has('next')) break
        resource = state.follow('next')
      }
      expect(seen).toEqual(IDS)
    })

    it('halfred, by the link next', async () => {
      const seen: string[] = []
      let href: string | undefined = `${root}api/events?limit=7`
      while (href !== undefined) {
        const reply: Response = await fetch(href, { headers: { Accept: 'application/hal+json' } })
        const page = halfred.parse(await reply.json())
        for (const event of page.embeddedResourceArray('event') ?? []) seen.push(String(event['Id']))
        const next = page.link('next')?.href
        href = next === undefined ? undefined : new URL(next, root).href
      }
      expect(seen).toEqual(IDS)
    })

    it.each(['application/xml', 'application/hal+xml'])('saxes, of %s, by the header Link', async (type) => {
      const seen: string[] = []
      let href: string | undefined = `${root}api/events?limit=19&tag=Dinner&tag=a%26b`
      while (href !== undefined) {
        const reply: Response = await fetch(href, { headers: { Accept: type } })
        const text = await reply.text()
        const parser = new SaxesParser({ xmlns: true })
        let path = ''
        parser.on('error', (cause) => {
          throw new Error(`not well-formed: ${text}`, { cause })
        })
        parser.on('opentag', ({ local }) => (path += `/${local}`))
        parser.on('closetag', ({ local }) => (path = path.slice(0, -local.length - 1)))
        parser.on('text', (piece) => {
          if (/^\/(ArrayOfEventRepresentation\/EventRepresentation|resource\/resource)\/Id$/.test(path))
            seen.push(piece)
        })
        parser.write(text).close()
        const next = /^<(.*)>; rel="next"$/.exec(reply.headers.get('link') ?? '')?.[1]
        href = next === undefined ? undefined : new URL(next, root).href
      }
      expect(seen).toEqual(IDS)
    })
  },
)
