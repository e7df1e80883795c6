import { createServer } from 'node:net'

/**
 * Ports below those that Linux assigns to connections (32768). Test files that run in parallel have separate ranges
 * (`MARQUEE_TEST_LANE`), and each process begins at a random port of its range. A server that is about to listen never
 * finds its port taken.
 */
const FIRST = 12_000
const PORTS_EACH = 2500
const LANES = 8

const lane = Number(process.env['MARQUEE_TEST_LANE'] ?? LANES - 1) % LANES
let next = process.pid % PORTS_EACH

/** Returns a port of the loopback address that is free and that no other test gets. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + lane * PORTS_EACH + next
    next = (next + 1) % PORTS_EACH
    if (await isFree(port)) return port
  }
}

function isFree(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const server = createServer()
  server.on('error', () => resolve(false)).listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  return promise
}
