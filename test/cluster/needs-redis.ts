import { describe } from 'bun:test'
import { HAS_REDIS } from '../support/redis-server.ts'

/** As `describe`, where Redis is installed; where not, it says so and the tests count as skipped. */
export function describeWithRedis(name: string, body: () => void): void {
  if (!HAS_REDIS) console.warn(`SKIPPED, for Redis is not installed (apt-get install redis-server): ${name}`)
  describe.skipIf(!HAS_REDIS)(name, body)
}
