import { afterAll, beforeAll, describe, expect, it } from 'bun:test'
import { readFileSync } from 'node:fs'
import { runCommand } from '../commands/run-command.ts'
import { WorkFolder } from '../commands/work-folder.ts'
import { type WebServer, webServer } from './web-server.ts'
import { RUNTIMES } from '../support/depth.ts'
import { NAMESPACE } from './rig.ts'

const EVENTS = `Nr;Titel;Ort;Beginn;Ende;Plätze;Frei;Preis
1;Konzert;Halle;12.07.2036 19:30;12.07.2036 22:00;200;20;18,50 €
2;Lesung;Halle;13.07.2036 19:30;13.07.2036 22:00;100;5;9,00 €
`
/** With a column that no field reads. */
const PLAN = EVENTS.replace('Preis', 'Preis;Notiz').replaceAll('€', '€;privat')
const VENUES = 'Name,Stadt\nHalle,Köln\n'
let server: WebServer

beforeAll(async () => {
  server = await webServer(({ path }) => {
    if (path.startsWith('/login')) return { headers: { 'content-type': 'text/html' }, body: '<html>Sign in' }
    if (path.startsWith('/plan')) return { body: PLAN }
    return { headers: { 'content-type': 'text/csv' }, body: path.startsWith('/events') ? EVENTS : VENUES }
  })
})
afterAll(() => server.close())

for (const runtime of RUNTIMES) {
  describe(`files by URL, on ${runtime}`, () => {
    it('are proposed by `init files --from URL`, and what it proposes is served', async () => {
      using folder = new WorkFolder()
      const urls = [`${server.origin}/events?sig=secret-word`, `${server.origin}/venues?sig=other-word`]
      const init = await runCommand(['init', 'files', ...urls.flatMap((url) => ['--from', url])], {
        cwd: folder.path,
        runtime,
      })
      expect([init.status, init.stderr]).toEqual([0, ''])
      expect(init.stdout).not.toContain('secret-word')
      const written = readFileSync(folder.at('marquee.yaml'), 'utf8')
      expect(written).toContain(`    from: "${urls[0]}"   # 2 rows`)
      expect(written).not.toContain('directory:')
      folder.write('marquee.yaml', written.replaceAll(/'\?'/g, 'null'))
      const check = await runCommand(['check', '--show', '1'], { cwd: folder.path, runtime })
      expect(check.status).toBe(0)
      expect(check.stdout).toContain('2 events and 1 venue would be served.')
      expect(check.stdout).toContain('"Price":18.50')
      expect(check.stdout + check.stderr).not.toMatch(/secret-word|other-word/)
    })

    it('are named by their URLs, and check names the keys for their texts, whatever the URL ends with', async () => {
      using folder = new WorkFolder()
      const url = `${server.origin}/plan`
      const init = await runCommand(['init', 'files', '--from', url], { cwd: folder.path, runtime })
      expect(init.stdout).toContain(`${new URL(url).host}/plan: not used: `)
      expect(init.stdout).not.toContain('list.csv')
      folder.write(
        'marquee.yaml',
        `crm: { kind: files, directory: ., idNamespace: ${NAMESPACE}, texts: { delimiter: ';' }, events: { from: "${url}", fields: { Id: Nr, Start: Beginn, Finish: Ende }, showOnWeb: null, active: null } }`,
      )
      folder.write('venues.csv', 'Id\n')
      const check = await runCommand(['check'], { cwd: folder.path, runtime })
      expect(check.stdout).toContain('or add DD.MM.YYYY hh:mm to crm.texts.dates.')
    })

    it('are refused with a sentence where a login page answers, without the query', async () => {
      using folder = new WorkFolder({
        'marquee.yaml':
          'crm: { kind: files, events: { from: { env: SHEET }, showOnWeb: null }, venues: { from: { url: { env: SHEET } } } }',
      })
      const env = { SHEET: `${server.origin}/login?sig=secret-word` }
      const check = await runCommand(['check'], { cwd: folder.path, runtime, env })
      expect(check.status).toBe(1)
      const host = new URL(server.origin).host
      expect(check.stderr).toContain(`${host} is a web page (HTML), not a file: publish the sheet`)
      expect(check.stdout + check.stderr).not.toMatch(/secret-word|login/)
      const init = await runCommand(['init', 'files', '--replace', '--from', env.SHEET], { cwd: folder.path, runtime })
      expect(init.status).toBe(2)
      expect(init.stderr).toContain('is a web page (HTML), not a file')
    })
  })
}
