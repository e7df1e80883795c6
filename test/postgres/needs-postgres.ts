import { describe } from 'bun:test'
import { HAS_POSTGRES } from '../support/postgres-server.ts'

/** As `describe`, where PostgreSQL is installed; where not, it says so and the tests count as skipped. */
export function describeWithPostgres(name: string, body: () => void): void {
  if (!HAS_POSTGRES) console.warn(`SKIPPED, for PostgreSQL is not installed (apt-get install postgresql): ${name}`)
  describe.skipIf(!HAS_POSTGRES)(name, body)
}
