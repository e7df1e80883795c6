import { afterAll, expect, it } from 'bun:test'
import { Child, programOf } from '../support/child.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import { untilListening } from '../support/marquee-process.ts'

/** Prints the URL of each module that is loaded. */
const HOOK = `import { registerHooks } from 'node:module'
registerHooks({ resolve(specifier, context, next) { const found = next(specifier, context); console.error(found.url); return found } })`

const alone = new FilesDirectory({ snapshot: null }, { events: '[]', venues: '[]' })
const sharing = new FilesDirectory({ snapshot: null, cluster: { url: 'redis://127.0.0.1:1/0' } }, null)
afterAll(() => {
  alone.remove()
  sharing.remove()
})

/** What is loaded of what instances share, until the service listens. */
async function loadedBy({ configuration }: FilesDirectory): Promise<readonly string[]> {
  const hook = `data:text/javascript,${encodeURIComponent(HOOK)}`
  const args = ['--import', hook, 'src/main.ts', 'serve', '--config', configuration]
  const { child } = await untilListening(new Child(programOf('node'), args))
  await child.stop()
  const urls = child.stderr.split('\n').filter((line) => /\/src\/cluster\/|@redis/.test(line))
  return [...new Set(urls)]
}

it('a service that stands alone loads nothing of what instances share', async () => {
  expect(await loadedBy(alone)).toEqual([])
  // It is looked where it would be.
  expect((await loadedBy(sharing)).length).toBeGreaterThan(20)
})
