import { afterAll, beforeAll, expect, it } from 'bun:test'
import type { Runtime } from '../support/child.ts'
import { Child, programOf } from '../support/child.ts'
import { Certificates } from '../support/certificates.ts'
import { PostgresServer } from '../support/postgres-server.ts'
import { describeWithPostgres } from './needs-postgres.ts'
import { RUNTIMES } from '../support/depth.ts'

const MEGABYTE = 1_000_000

let server: PostgresServer
let certificates: Certificates

interface Pages {
  readonly sizes: readonly number[]
  /** Of the largest page. */
  readonly most: number
  /** Of the numbers of all rows. */
  readonly sum: number
  readonly after: unknown
}

async function pagesOf(runtime: Runtime, select: string, query = '', limitMs = 60_000): Promise<Pages> {
  const env = { PG_URL: server.url({ query }), PG_SELECT: select, PG_LIMIT_MS: String(limitMs) }
  const child = new Child(programOf(runtime), ['test/postgres/read-pages.ts'], { env })
  await child.exited
  if (child.stderr !== '') throw new Error(child.stderr)
  return JSON.parse(child.stdout) as Pages
}

/** Rows of a number and a text, wide from one on. */
function rows(small: number, wide: number, bytes: number): string {
  return `SELECT n, repeat('x', CASE WHEN n <= ${small} THEN 10 ELSE ${bytes} END) FROM generate_series(1, ${small + wide}) n`
}

describeWithPostgres('the pages of a read', () => {
  beforeAll(async () => {
    server = await PostgresServer.create()
    certificates = new Certificates()
    const { certificate, key } = certificates.sign('DNS:localhost')
    server.putFile('server.crt', certificate)
    server.putFile('server.key', key)
    server.configure({ ssl: 'on' })
    await server.restart()
  })

  afterAll(async () => {
    await server.remove()
    certificates.remove()
  })

  it.each(RUNTIMES)('have a thousand rows at the most (%s)', async (runtime) => {
    const { sizes, sum } = await pagesOf(runtime, rows(20_000, 0, 0))
    expect(Math.max(...sizes)).toBe(1000)
    expect(sizes.length).toBeLessThan(25)
    expect(sum).toBe((20_000 * 20_001) / 2)
  })

  it.each(RUNTIMES)('have fewer where rows are wide (%s)', async (runtime) => {
    const { sizes, most, sum } = await pagesOf(runtime, rows(0, 400, 150_000))
    expect(sum).toBe((400 * 401) / 2)
    expect(most).toBeLessThan(5 * MEGABYTE)
    expect(sizes.at(-1)).toBeLessThan(10)
  })

  it.each(RUNTIMES.flatMap((runtime) => ['disable', 'require'].map((mode) => [runtime, mode] as const)))(
    'are cut where small rows are followed by wide ones, with nothing lost (%s, sslmode %s)',
    async (runtime, mode) => {
      const { sizes, most, sum, after } = await pagesOf(runtime, rows(5000, 900, 150_000), `?sslmode=${mode}`)
      expect(sum).toBe((5900 * 5901) / 2)
      expect(sizes.reduce((all, size) => all + size, 0)).toBe(5900)
      expect(most).toBeLessThan(5 * MEGABYTE)
      expect(after).toEqual([['1']])
    },
  )

  it('have fewer where rows take the server long, so that no page takes longer than a statement may', async () => {
    const { sizes, sum } = await pagesOf('bun', 'SELECT n, pg_sleep(0.015) FROM generate_series(1, 400) n', '', 10_000)
    expect(sum).toBe((400 * 401) / 2)
    expect(Math.max(...sizes)).toBeLessThan(200)
  })
})
