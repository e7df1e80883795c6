/**
 * A program: asks `PORT PATH` over so many keep-alive connections until the service takes no more, so many requests at
 * once on each, and prints what became of them. It says that it is loading once each connection was answered, and each
 * hundred answers. `{n}` in the path is another number each time. A connection is left, and another opened, where an
 * answer said so (RFC 9112 §9.6). For each lost request it prints when it was sent: one that was sent late to a service
 * that stops tells nothing of the service.
 */
import { Buffer } from 'node:buffer'
import { connect } from 'node:net'

const [port = '', path = '', connections = '', atOnce = '1'] = process.argv.slice(2)

let number = 0
function request(): string {
  return `GET ${path.replace('{n}', () => String(++number))} HTTP/1.1\r\nHost: load.example\r\n\r\n`
}
const END = Buffer.from('\r\n\r\n')

const tally = {
  sent: 0,
  answered: 0,
  /** Answers with another status than 200. */
  wrong: 0,
  /**
   * Requests on a connection that was taken, and ended without their whole answer: when each was sent, in ms since
   * 1970.
   */
  lostSentAtMs: [] as number[],
  /** Answers that said `Connection: close`. */
  farewells: 0,
}

/** One connection; resolves with whether another should follow. `onAnswered` is called after each batch. */
function use(onAnswered: () => void): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  let received: Buffer = Buffer.alloc(0)
  let connected = false
  let [waiting, sentAtMs] = [0, 0]
  let isLast = false
  const socket = connect({ port: Number(port), host: '127.0.0.1', noDelay: true }, () => {
    connected = true
    ask()
  })
  const ask = (): void => {
    waiting = Number(atOnce)
    tally.sent += waiting
    sentAtMs = Date.now()
    socket.write(Array.from({ length: waiting }, request).join(''))
  }
  socket.on('data', (chunk: Buffer) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
    while (take());
    if (waiting > 0) return
    onAnswered()
    if (!isLast) return ask()
    tally.farewells++
    socket.end()
  })
  /** Takes the next answer, where all of it is there. */
  const take = (): boolean => {
    const end = received.indexOf(END)
    if (end === -1) return false
    const head = received.subarray(0, end).toString('latin1')
    const length = Number(/^content-length: (\d+)\r?$/im.exec(head)?.[1])
    if (received.length < end + END.length + length) return false
    received = received.subarray(end + END.length + length)
    waiting--
    if (++tally.answered % 100 === 0) console.log(`{"answered":${tally.answered}}`)
    if (!head.startsWith('HTTP/1.1 200 ')) tally.wrong++
    isLast = /^connection: close\r?$/im.test(head)
    return true
  }
  socket.on('error', () => {})
  socket.on('close', () => {
    for (let lost = 0; lost < waiting; lost++) tally.lostSentAtMs.push(sentAtMs)
    resolve(connected)
  })
  return promise
}

const answered = new Set<number>()

async function worker(index: number): Promise<void> {
  const onAnswered = (): void => {
    if (answered.has(index)) return
    answered.add(index)
    if (answered.size === Number(connections)) console.log('{"event":"loading"}')
  }
  while (await use(onAnswered));
}

await Promise.all(Array.from({ length: Number(connections) }, (_, index) => worker(index)))
console.log(JSON.stringify(tally))
