import { resolve } from 'node:path'

export interface Whereabouts {
  /** What `--config` named; undefined where it was not given. */
  readonly option: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  /** The directory the process was started in. */
  readonly cwd: string
  readonly exists: (path: string) => boolean
}

/** Which configuration to read, and why that one: `because` completes `the configuration is …, `. */
export type FoundConfiguration =
  | {
      readonly kind: 'file'
      readonly path: string
      readonly because: 'named by --config' | 'named by MARQUEE_CONFIG' | 'found here'
    }
  | { readonly kind: 'sample'; readonly because: 'there is no marquee.yaml here' }

/** `--config`, else the file MARQUEE_CONFIG names, else ./marquee.yaml where it exists, else the sample that ships with Marquee. */
export function findConfiguration({ option, env, cwd, exists }: Whereabouts): FoundConfiguration {
  const stand = standOf(env, cwd)
  if (option !== undefined) return { kind: 'file', path: resolve(stand, option), because: 'named by --config' }
  const named = env['MARQUEE_CONFIG']
  if (named) return { kind: 'file', path: resolve(stand, named), because: 'named by MARQUEE_CONFIG' }
  for (const directory of new Set([stand, cwd])) {
    const path = resolve(directory, 'marquee.yaml')
    if (exists(path)) return { kind: 'file', path, because: 'found here' }
  }
  return { kind: 'sample', because: 'there is no marquee.yaml here' }
}

/** Where the person stands: npm runs its scripts in the package's directory. Other scripts inherit INIT_CWD and mean nothing by it. */
function standOf(env: Whereabouts['env'], cwd: string): string {
  const script = env['npm_lifecycle_event']
  const start = env['INIT_CWD']
  return start && (script === 'start' || script === 'start:node') ? start : cwd
}
