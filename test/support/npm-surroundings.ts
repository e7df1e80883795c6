import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

/**
 * An empty home and an empty cache. How the registry is reached is a matter of the machine; npm's other settings stay
 * behind.
 */
export function npmSurroundings(folder: string): Record<string, string> {
  const kept = Object.entries(process.env).filter(([name]) => !name.toLowerCase().startsWith('npm_'))
  const home = join(folder, 'home')
  mkdirSync(home, { recursive: true })
  return {
    ...Object.fromEntries(kept.map(([name, value]) => [name, value ?? ''])),
    HOME: home,
    npm_config_cache: join(folder, 'cache'),
    npm_config_registry: spawnSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).stdout.trim(),
  }
}
