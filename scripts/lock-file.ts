import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** An entry of package-lock.json, with the properties used here. */
export interface LockedPackage {
  /** The path of the installed package: `node_modules/…`. */
  readonly path: string
  readonly name: string
  readonly version: string
  /** The digest: `sha512-` and base64; undefined if npm has none. */
  readonly integrity?: string
  readonly license?: string
  readonly dev?: boolean
  readonly optional?: boolean
  readonly hasInstallScript?: boolean
  readonly engines?: { readonly node?: string }
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

/** Reads the packages of package-lock.json in `root`. The project itself comes first, with an empty path. */
export function lockedPackages(root: string): readonly LockedPackage[] {
  const text = readFileSync(join(root, 'package-lock.json'), 'utf8')
  const { packages } = JSON.parse(text) as { readonly packages: Readonly<Record<string, LockedPackage>> }
  return Object.entries(packages).map(([path, entry]) => ({
    ...entry,
    path,
    name: path === '' ? entry.name : path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length),
  }))
}

/** Resolves `name` for the package at `path` as Node does: in the nearest `node_modules` on the way up. */
export function resolvedFrom(
  path: string,
  name: string,
  packages: ReadonlyMap<string, LockedPackage>,
): LockedPackage | undefined {
  const found = packages.get(`${path}${path === '' ? '' : '/'}node_modules/${name}`)
  if (found !== undefined || path === '') return found
  const parent = path.lastIndexOf('/node_modules/')
  return resolvedFrom(parent === -1 ? '' : path.slice(0, parent), name, packages)
}
