import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** An entry of package-lock.json, as far as it is looked at here. */
export interface LockedPackage {
  /** Where it is installed: `node_modules/…`. */
  readonly path: string
  readonly name: string
  readonly version: string
  /** `sha512-` and the digest in base64; undefined where npm was told none. */
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

/** The packages of the lock file beside `root`'s package.json; the project itself comes first, with the path ''. */
export function lockedPackages(root: string): readonly LockedPackage[] {
  const text = readFileSync(join(root, 'package-lock.json'), 'utf8')
  const { packages } = JSON.parse(text) as { readonly packages: Readonly<Record<string, LockedPackage>> }
  return Object.entries(packages).map(([path, entry]) => ({
    ...entry,
    path,
    name: path === '' ? entry.name : path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length),
  }))
}

/** The package that `name` means to the one at `path`: the nearest `node_modules` on the way up that has it, as Node resolves. */
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
