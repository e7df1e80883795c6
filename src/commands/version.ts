import manifest from '../../package.json' with { type: 'json' }

/** The version of this Marquee, as package.json has it. */
export const VERSION: string = manifest.version

/** The runtime and its version, such as `Bun 1.4.5`. */
export function runtimeName(): string {
  const bun = process.versions['bun']
  return bun === undefined ? `Node ${process.versions.node}` : `Bun ${bun}`
}
