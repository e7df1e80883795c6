import { afterAll, expect, it, setDefaultTimeout } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { IDeployment } from 'kubernetes-models/apps/v1'
import { parseAllDocuments } from 'yaml'
import { ROOT } from '../support/child.ts'

setDefaultTimeout(120_000)

/** Inside the project, since the compiler looks for types in the folders above. */
const FOLDER = mkdtempSync(join(ROOT, 'node_modules/.cache-manifests-'))
afterAll(() => rmSync(FOLDER, { recursive: true }))

type Manifest = Pick<IDeployment, 'spec'> & { readonly apiVersion: string; readonly kind: string }

const MANIFESTS = parseAllDocuments(readFileSync(join(ROOT, 'deploy/kubernetes/marquee.yaml'), 'utf8')).map(
  (document) => document.toJS() as Manifest,
)

/**
 * Compiles manifests as values of the types of the Kubernetes API, which refuses unknown names too; returns the errors.
 */
function refused(manifests: readonly Manifest[]): string {
  const lines = manifests.map((manifest, index) => {
    const type = `import('kubernetes-models/${manifest.apiVersion}').I${manifest.kind}`
    return `export const manifest${index}: ${type} = ${JSON.stringify(manifest)}`
  })
  const file = join(FOLDER, 'manifests.ts')
  writeFileSync(file, lines.join('\n'))
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'preserve', '--ignoreConfig', '--types', '']
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc')
  return spawnSync(process.execPath, [compiler, ...options, file], { encoding: 'utf8' }).stdout
}

it('the Kubernetes file has only what the API of Kubernetes knows', () => {
  expect(MANIFESTS.map(({ kind }) => kind)).toContain('Deployment')
  expect(refused(MANIFESTS)).toBe('')
})

it.each([
  [{ livenessProb: {} }, `'"livenessProb"' does not exist`],
  [{ image: 7 }, "Type 'number' is not assignable to type 'string'"],
])('it would be found that a container has %j', (change, complaint) => {
  const [deployment] = structuredClone(MANIFESTS).filter(({ kind }) => kind === 'Deployment')
  const container = deployment?.spec?.template?.spec?.containers[0]
  if (deployment === undefined || container === undefined) throw new Error('there is no container')
  Object.assign(container, change)
  expect(refused([deployment])).toContain(complaint)
})
