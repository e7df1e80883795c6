import { createServer } from 'node:net'

/**
 * Ports below those that Linux gives to connections (32768). Test files that run beside one another have a range each (`MARQUEE_TEST_LANE`), and
 * a process begins anywhere in it: a server that is about to listen on its port never meets another one.
 */
const FIRST = 12_000
const PORTS_EACH = 2500
const LANES = 8

const lane = Number(process.env['MARQUEE_TEST_LANE'] ?? LANES - 1) % LANES
let next = process.pid % PORTS_EACH

/** A port of the loopback address that nobody listens on now, and that no other test is given. */
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
