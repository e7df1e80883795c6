import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { LockedPackage } from './lock-file.ts'
import { lockedPackages, resolvedFrom } from './lock-file.ts'

/** The time and serial number of a bill of materials. */
interface Making {
  readonly at: Date
  readonly uuid: string
}

/**
 * Lists what runs in production at `root`, in CycloneDX 1.5: each installed package of the lock file that is not for
 * development alone, with its digest. `npm sbom --omit dev` would also omit packages that a development tool shares.
 */
export function billOfMaterials(root: string, { at, uuid }: Making): object {
  const [project, ...others] = lockedPackages(root)
  if (project === undefined) throw new Error(`${root}/package-lock.json names no project`)
  const installed = others.filter(({ path, dev }) => dev !== true && existsSync(join(root, path)))
  const byPath = new Map(installed.map((one) => [one.path, one]))
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    serialNumber: `urn:uuid:${uuid}`,
    version: 1,
    metadata: { timestamp: at.toISOString(), component: { type: 'application', ...identity(project) } },
    components: [...new Map(installed.map((one) => [reference(one), component(one)])).values()],
    dependencies: [project, ...installed].map((one) => ({
      ref: reference(one),
      dependsOn: needed(one).flatMap((name) => {
        const found = resolvedFrom(one.path, name, byPath)
        return found === undefined ? [] : [reference(found)]
      }),
    })),
  }
}

function component(one: LockedPackage): object {
  const digest = /^sha512-(.+)$/.exec(one.integrity ?? '')?.[1]
  if (digest === undefined) throw new Error(`package-lock.json has no SHA-512 of ${one.path}`)
  const content = Buffer.from(digest, 'base64').toString('hex')
  return {
    type: 'library',
    ...identity(one),
    scope: one.optional === true ? 'optional' : 'required',
    hashes: [{ alg: 'SHA-512', content }],
  }
}

function identity(one: LockedPackage): object {
  const { name, version, license } = one
  const licenses = license === undefined ? {} : { licenses: [licenseOf(license)] }
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`
  return { 'bom-ref': reference(one), name, version, purl, ...licenses }
}

/** A single licence by its SPDX id, several as an expression. */
function licenseOf(text: string): object {
  return /^[\w.+-]+$/.test(text) ? { license: { id: text } } : { expression: text }
}

function reference({ name, version }: LockedPackage): string {
  return `${name}@${version}`
}

function needed(one: LockedPackage): readonly string[] {
  return Object.keys({ ...one.dependencies, ...one.optionalDependencies, ...one.peerDependencies })
}
