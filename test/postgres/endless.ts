// Begins to read a server of PostgreSQL that sends what `PG_SENDS` names, without end, and tells what came of it and
// what it took.
import { createServer } from 'node:net'
import { Secret } from '../../src/domain/secret.ts'
import { failureIn } from '../../src/crm/postgres/postgres-failure.ts'
import { ReadSession } from '../../src/crm/postgres/read-session.ts'
import { openerOf } from './opener-of.ts'

function message(type: string, content: Buffer | string, length: number = Buffer.byteLength(content) + 4): Buffer {
  const header = Buffer.alloc(5)
  header.write(type)
  header.writeUInt32BE(length, 1)
  return Buffer.concat([header, Buffer.from(content)])
}

const GREETING = Buffer.concat([message('R', '\0\0\0\0'), message('Z', 'I')])
const ANSWER = Buffer.concat(['BEGIN', 'SET'].map((tag) => message('C', `${tag}\0`)))
const ENDLESS = 2 ** 31 - 1
const ROW = message('D', '\0\u0001\0\0\0\u0001x')
const COLUMN = message('T', `\0\u0001now${'\0'.repeat(19)}`)
/** What is sent when the connection begins, what when the first statement comes, and what follows without end. */
const SENDS: Readonly<Record<string, readonly [begins: Buffer, answers: Buffer | null, on: Buffer]>> = {
  'an endless message': [message('R', '', ENDLESS), null, Buffer.alloc(65_536)],
  'an endless notice': [message('N', '', ENDLESS), null, Buffer.alloc(65_536)],
  'messages without end': [message('R', '\0\0\0\0'), null, message('S', 'a\0b\0')],
  'an endless row': [GREETING, Buffer.concat([ANSWER, COLUMN, message('D', '', ENDLESS)]), Buffer.alloc(65_536)],
  'an endless error': [GREETING, message('E', '', ENDLESS), Buffer.alloc(65_536)],
  'rows without end': [GREETING, Buffer.concat([ANSWER, COLUMN]), ROW],
  'results without end': [GREETING, ANSWER, message('C', 'SET\0')],
}

const [begins, answers, on] = SENDS[process.env['PG_SENDS'] ?? ''] ?? [GREETING, null, GREETING]
const MOST_SENT = 1_000_000_000
let sent = 0
const server = createServer((socket) => {
  const more = Buffer.concat(Array.from({ length: Math.ceil(65_536 / on.length) }, () => on))
  const send = (): void => {
    while (!socket.destroyed && sent < MOST_SENT) {
      sent += more.length
      if (!socket.write(more)) return
    }
  }
  socket.on('error', () => {})
  socket.once('data', () => {
    socket.write(begins)
    if (answers === null) {
      socket.on('drain', send)
      send()
      return
    }
    socket.once('data', () => {
      socket.write(answers)
      socket.on('drain', send)
      send()
    })
  })
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const address = server.address()
const port = typeof address === 'object' ? address?.port : 0
const opener = openerOf(
  new Secret(`postgres://reader@127.0.0.1:${port}/crm?sslmode=disable`, { name: 'a test', reread: null }),
  { requestTimeoutMs: 20_000 },
)
const before = process.memoryUsage.rss()
let most = before
const watch = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 1)
const begun = new ReadSession(opener, 'events').begin()
const failure = await begun.then(
  () => null,
  (cause: unknown) => failureIn(cause).failure,
)
clearInterval(watch)
const grownMb = (Math.max(most, process.memoryUsage.rss()) - before) / 1_000_000
console.log(JSON.stringify({ kind: failure?.kind, message: failure?.message.replace(/^.*?: /, ''), grownMb }))
process.exit(0)
