import assert from 'node:assert/strict'
import { Buffer } from 'node:buffer'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { IN_THE_FILE, Secret } from '../../src/domain/secret.ts'
import { mayBeStore } from '../../src/config/configuration.ts'
import { systemTime } from '../../src/time/time.ts'
import { RedisStore } from '../../src/cluster/redis/redis-store.ts'
import type { RedisSettings } from '../../src/cluster/redis/redis-store.ts'
import { type StoreConnection, type StoreFault, Session } from '../../src/cluster/store.ts'
import { Certificates } from '../support/certificates.ts'
import { eventually } from '../support/eventually.ts'
import { RedisServer } from '../support/redis-server.ts'
import { SwallowingProxy } from '../support/swallowing-proxy.ts'
import { entryOf, SENTENCES } from './store-sentences.ts'

const SCOPE = '0123456789ab'
const LOG = `marquee:{${SCOPE}}:log`
/** More than a machine may stand still: what is answered is answered within it. */
const LIMIT_MS = 4000
const LARGE_BYTES = 8 * 1024 * 1024

type Given = Partial<Omit<RedisSettings, 'url'>>

function storeAt(url: string | Secret, given: Given = {}): RedisStore {
  const secret = typeof url === 'string' ? new Secret(url, IN_THE_FILE) : url
  return new RedisStore({ url: secret, ca: null, name: 'marquee', ...given }, SCOPE)
}

/** With a server of its own, which is gone afterwards. */
async function withServer(
  body: (server: RedisServer) => Promise<void>,
  ...options: Parameters<typeof RedisServer.start>
): Promise<void> {
  const server = await RedisServer.start(...options)
  try {
    await body(server)
  } finally {
    await server.remove()
  }
}

const failsAs = (fault: StoreFault, message = /./): object => ({ name: 'StoreFailure', fault, message })

function sessionOf(url: string): Promise<Session> {
  return Session.open(storeAt(url), systemTime, LIMIT_MS, new AbortController().signal)
}

/** What a client of the page's rights may do. */
const RIGHTS =
  'resetkeys ~marquee:* resetchannels -@all +xadd +xread +xrange +xrevrange +xtrim +hset +hscan +hdel +get +set +unlink +exists +pexpire +ping +info'

/** Says `reply` to whatever it is sent, as a server of another kind does. */
async function withAnswer(reply: string, body: (url: string) => Promise<void>): Promise<void> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', () => void socket.write(reply))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  try {
    await body(`redis://user:do-not-tell@127.0.0.1:${typeof address === 'object' ? address?.port : 0}/0`)
  } finally {
    server.close()
  }
}

async function failureOf(asked: Promise<unknown>): Promise<string> {
  return asked.then(
    () => 'nothing failed',
    (cause: unknown) => (cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause)),
  )
}

async function usable(connection: StoreConnection): Promise<void> {
  const top = await connection.top()
  assert.equal(await connection.append(entryOf(`${Number(top?.id.split('-')[0] ?? 0) + 1}-0`), true), 'added')
}

/** What real servers do to us; each with a server of its own. */
export const REDIS_SENTENCES: Readonly<Record<string, () => Promise<void>>> = {
  ...Object.fromEntries(
    Object.entries(SENTENCES).map(([name, sentence]) => [
      name,
      () => withServer((server) => sentence(() => storeAt(server.url).connect())),
    ]),
  ),

  'fails what waits as soon as the server is killed, and connects to the next one': () =>
    withServer(async (server) => {
      const store = await storeAt(server.url).connect()
      await store.append(entryOf('1-0'), true)
      const rejected = assert.rejects(store.readAfter('1-0', 60_000, 16), failsAs('lost'))
      await server.end()
      await rejected
      await assert.rejects(store.top(), failsAs('lost'))
      await assert.rejects(storeAt(server.url).connect(), failsAs('lost', /^the store refused the connection$/))
      await server.run()
      await assert.rejects(store.top(), failsAs('lost'))
      await usable(await storeAt(server.url).connect())
    }),

  'is within its limit while the server is stopped, and uses nothing that comes late': () =>
    withServer(async (server) => {
      const session = await sessionOf(server.url)
      await session.ask((store) => store.append(entryOf('1-0'), true))
      server.freeze()
      await assert.rejects(
        session.ask((store) => store.readAfter('1-0', 100, 16), 100),
        failsAs('late', /within 4\.1 s/),
      )
      await assert.rejects(
        session.ask((store) => store.top()),
        failsAs('lost'),
      )
      // The system accepts the connection; the server says nothing.
      await assert.rejects(sessionOf(server.url), failsAs('late', /did not answer within/))
      server.continue()
      await (await sessionOf(server.url)).ask(usable)
      // What was let go is gone there too: this one, and the one of redis-cli.
      await eventually(
        () => Promise.resolve(server.ask('CLIENT', 'LIST').split('\n').length),
        (clients) => clients === 2,
      )
    }),

  'fails what waits when the server cuts the connection': () =>
    withServer(async (server) => {
      const store = await storeAt(server.url).connect()
      await store.append(entryOf('1-0'), true)
      const closed = failsAs('lost', /^the store closed the connection$/)
      const rejected = assert.rejects(store.readAfter('1-0', 60_000, 16), closed)
      server.ask('CLIENT', 'KILL', 'TYPE', 'normal')
      await rejected
      await assert.rejects(store.top(), closed)
      await usable(await storeAt(server.url).connect())
    }),

  'is within its limit behind a proxy that swallows': () =>
    withServer(async (server) => {
      const proxy = await SwallowingProxy.open(server.port)
      try {
        const url = `redis://127.0.0.1:${proxy.port}/0`
        const session = await sessionOf(url)
        await session.ask(usable)
        proxy.isSwallowing = true
        await assert.rejects(
          session.ask((store) => store.append(entryOf('9-0'), true)),
          failsAs('late', /did not answer/),
        )
        await assert.rejects(sessionOf(url), failsAs('late', /did not answer/))
      } finally {
        proxy.close()
      }
    }),

  'learns of a store that was emptied by its next command, not by the read that waits': () =>
    withServer(async (server) => {
      const [store, other] = [await storeAt(server.url).connect(), await storeAt(server.url).connect()]
      await store.append(entryOf('7-0'), true)
      const waited = other.readAfter('7-0', 30, 16)
      server.ask('FLUSHALL')
      assert.deepEqual(await waited, [])
      assert.equal(await store.append(entryOf('7-1'), false), 'no-log')
      assert.equal(await store.top(), null)
    }),

  'refuses every id where the highest one was written and deleted, until the log is dropped': () =>
    withServer(async (server) => {
      const store = await storeAt(server.url).connect()
      await store.append(entryOf('1-0'), true)
      const highest = '18446744073709551615-18446744073709551615'
      server.ask('XADD', LOG, highest, 'a', 'slip')
      server.ask('XDEL', LOG, highest)
      assert.equal(await store.append(entryOf('2-0'), true), 'refused')
      server.ask('XDEL', LOG, '1-0')
      assert.equal(await store.top(), null)
      assert.equal(await store.append(entryOf('2-0'), true), 'refused')
      await store.drop(['log'])
      await usable(store)
    }),

  'names the other logs that grow, and reads nothing that was in them before': () =>
    withServer(async (server) => {
      const store = await storeAt(server.url).connect()
      const others = ['aaaaaaaaaaaa', 'bbbbbbbbbbbb', 'cccccccccccc', 'dddddddddddd-00000000']
      const [large = '', typed = '', small = '', none = ''] = others.map((name) => `marquee:{${name}}:log`)
      for (const name of [SCOPE, ...others, 'no name']) server.ask('HSET', 'marquee:scopes', name, '1')
      // Whatever others keep in that key is not read.
      const neighbour = spawnSync('redis-cli', ['-p', String(server.port), '-x', 'HSET', 'marquee:scopes', 'theirs'], {
        input: Buffer.alloc(LARGE_BYTES, 'x'),
      })
      assert.equal(neighbour.status, 0)
      const fed = spawnSync('redis-cli', ['-p', String(server.port), '-x', 'XADD', large, '*', 'h'], {
        input: Buffer.alloc(LARGE_BYTES, 'x'),
      })
      assert.equal(fed.status, 0)
      server.ask('SET', typed, 'a text')
      server.ask('XADD', small, '*', 'h', 'heartbeat')
      await store.append(entryOf('1-0'), true)
      const sent = (): number =>
        Number(/total_net_output_bytes:(\d+)/.exec(server.ask('INFO', 'stats'))?.[1] ?? Number.NaN)
      const before = sent()
      assert.deepEqual(await store.otherLogsInUse(1), [])
      const looked = store.otherLogsInUse(60_000)
      let isOver = false
      void looked.finally(() => (isOver = true))
      // They begin to grow at some time, and all have to be seen.
      await eventually(
        async () => {
          for (const log of [none, large, small]) server.ask('XADD', log, '*', 'h', 'heartbeat')
        },
        () => isOver,
      )
      assert.deepEqual(await looked, ['aaaaaaaaaaaa', 'cccccccccccc', 'dddddddddddd-00000000'])
      assert.ok(sent() - before < LARGE_BYTES / 10)
    }),

  'says that a server is full, goes on on the same connection, and may cut the log': () =>
    withServer(async (server) => {
      const store = await storeAt(server.url).connect()
      for (let at = 1; at <= 50; at++) await store.append(entryOf(`1-${at}`, 'x'.repeat(10_000)), true)
      server.ask('CONFIG', 'SET', 'maxmemory', '1000')
      const told = /^the store accepts no more data: raise its maxmemory, .* \(OOM .*\)$/
      await assert.rejects(store.append(entryOf('2-0'), true), failsAs('full', told))
      await assert.rejects(store.writeField('nonces', 'a', '1'), failsAs('full'))
      await assert.rejects(store.putBlob('snapshot', Buffer.from('a')), failsAs('full'))
      await store.trimBefore('1-50')
      assert.equal((await store.readFrom('0-0', 99)).length, 1)
      server.ask('CONFIG', 'SET', 'maxmemory', '0')
      await usable(store)
    }),

  'says that a replica refuses, which only follows a primary': () =>
    withServer((primary) =>
      withServer(
        async (replica) => {
          const store = await storeAt(replica.url).connect()
          await assert.rejects(
            store.append(entryOf('1-0'), true),
            failsAs('refused', /^the store refuses a command: READONLY/),
          )
          await assert.rejects(store.writeField('nonces', 'a', '1'), failsAs('refused'))
        },
        ['--replicaof', '127.0.0.1', String(primary.port)],
      ),
    ),

  'needs no right but those of the page': () =>
    withServer(async (server) => {
      server.ask('ACL', 'SETUSER', 'one', 'on', '>secret', ...RIGHTS.split(' '))
      const url = `redis://one:secret@127.0.0.1:${server.port}/0`
      for (const sentence of Object.values(SENTENCES)) {
        server.ask('FLUSHALL')
        await sentence(() => storeAt(url).connect())
      }
      assert.deepEqual(server.ask('ACL', 'LOG'), '')
      await assert.rejects(storeAt(url, { name: 'another' }).connect().then(usable), failsAs('refused', /NOPERM/))
      for (const command of [['KEYS', '*'], ['EVAL', 'return 1', '0'], ['FLUSHALL'], ['GET', 'another:key']]) {
        const said = server.ask('--no-auth-warning', '-u', url, ...command)
        assert.match(said, /NOPERM/)
      }
    }),

  'says that a right was taken away': () =>
    withServer(async (server) => {
      server.ask('ACL', 'SETUSER', 'one', 'on', '>secret', ...RIGHTS.split(' '))
      const store = await storeAt(`redis://one:secret@127.0.0.1:${server.port}/0`).connect()
      await usable(store)
      server.ask('ACL', 'SETUSER', 'one', '-xadd')
      await assert.rejects(usable(store), failsAs('refused', /^the store refuses a command: NOPERM/))
    }),

  'reads a password again that was replaced, and tells none': () =>
    withServer(async (server) => {
      server.ask('ACL', 'SETUSER', 'one', 'on', '>first', ...RIGHTS.split(' '))
      const urlOf = (password: string): string => `redis://one:${password}@127.0.0.1:${server.port}/0`
      let password = 'first'
      const reread = (): Promise<{ ok: true; text: string }> => Promise.resolve({ ok: true, text: urlOf(password) })
      const store = storeAt(new Secret(urlOf('first'), { name: 'the file', reread }))
      await usable(await store.connect())
      server.ask('ACL', 'SETUSER', 'one', 'resetpass', '>second')
      const said = await failureOf(store.connect())
      assert.match(said, /^StoreFailure: the store refuses a command: WRONGPASS/)
      assert.doesNotMatch(said, /first|second/)
      password = 'second'
      await usable(await store.connect())
      await usable(await store.connect())
    }),

  'follows a URL that was replaced, to where it may be used': () =>
    withServer((first) =>
      withServer(async (second) => {
        let text = first.url
        const url = new Secret(text, { name: 'the file', reread: () => Promise.resolve({ ok: true, text }) })
        const store = storeAt(url, { mayUse: (other) => mayBeStore(other, false) })
        await usable(await store.connect())
        await first.end()
        await assert.rejects(store.connect(), failsAs('lost', /^the store refused the connection$/))
        for (text of ['redis://elsewhere.example:6379/0', 'REDIS://elsewhere.example', 'http://127.0.0.1', 'none']) {
          await assert.rejects(store.connect(), failsAs('refused', /^cluster\.url was read again and cannot be used/))
        }
        text = second.url
        await usable(await store.connect())
      }),
    ),

  'is encrypted to a server whose certificate is trusted, and to no other': async () => {
    const [ours, strangers] = [new Certificates(), new Certificates()]
    try {
      const { certificate, key } = ours.sign('DNS:localhost')
      const [certificateFile, keyFile] = [join(ours.folder, 'redis.pem'), join(ours.folder, 'redis.key')]
      writeFileSync(certificateFile, certificate)
      writeFileSync(keyFile, key)
      const files = [
        '--tls-cert-file',
        certificateFile,
        '--tls-key-file',
        keyFile,
        '--tls-ca-cert-file',
        ours.authority,
      ]
      await withServer(
        async (server) => {
          const url = `rediss://localhost:${server.tlsPort}/0`
          const trusting = (ca: string | null, at = url): Promise<StoreConnection> => storeAt(at, { ca }).connect()
          await usable(await trusting(ours.authority))
          const untrusted = failsAs(
            'lost',
            /^the store has a certificate that is not trusted here: .* in cluster\.ca \([A-Z_]+\)$/,
          )
          await assert.rejects(trusting(null), untrusted)
          await assert.rejects(trusting(strangers.authority), untrusted)
          await assert.rejects(
            trusting(ours.authority, `rediss://127.0.0.1:${server.tlsPort}/0`),
            failsAs('lost', /^the store has a certificate that is for another host: use a host name that it contains/),
          )
          await assert.rejects(trusting(join(ours.folder, 'none')), failsAs('lost', /^cluster\.ca does not exist$/))
          const brokenFile = join(ours.folder, 'broken.pem')
          writeFileSync(brokenFile, certificate.replace(/\n[\w+/]+/, '\n'))
          for (const file of [keyFile, brokenFile]) {
            await assert.rejects(
              trusting(file),
              failsAs('refused', /^cluster\.ca holds no certificate: it must be a PEM file$/),
            )
          }
          // Neither side speaks to one of the other kind.
          await assert.rejects(sessionOf(`rediss://127.0.0.1:${server.port}/0`), { name: 'StoreFailure' })
          const expired = ours.sign('DNS:localhost', { days: -1 })
          writeFileSync(certificateFile, expired.certificate)
          writeFileSync(keyFile, expired.key)
          server.ask('CONFIG', 'SET', 'tls-cert-file', certificateFile, 'tls-key-file', keyFile)
          await assert.rejects(
            trusting(ours.authority),
            failsAs(
              'lost',
              /^the store has a certificate that has expired: renew it on the server \(CERT_HAS_EXPIRED\)$/,
            ),
          )
          await assert.rejects(sessionOf(`redis://127.0.0.1:${server.tlsPort}/0`), { name: 'StoreFailure' })
        },
        [],
        files,
      )
    } finally {
      ours.remove()
      strangers.remove()
    }
  },

  "takes another's data for what it is not ours": () =>
    withServer(async (server) => {
      const store = await storeAt(server.url).connect()
      server.ask('XADD', LOG, '1-0', 'temperature', '20')
      server.ask('XADD', LOG, '1-1', 'h', 'one', 'h', 'two', 'b', '', 's', '\x01')
      const many = Array.from({ length: 20_000 }, (_, at) => [`f${at}`, `${at}`]).flat()
      spawnSync('redis-cli', ['-p', String(server.port), '-x', 'XADD', LOG, '1-2', ...many, 'b'], { input: 'bytes' })
      const entries = await store.readAfter('0-0', 10, 16)
      assert.deepEqual(
        entries.map(({ id, h }) => [id, h]),
        [
          ['1-0', ''],
          ['1-1', 'one'],
          ['1-2', ''],
        ],
      )
      server.ask('SET', `marquee:{${SCOPE}}:nonces`, 'a text')
      await assert.rejects(store.readFields('nonces', 99), failsAs('foreign', /WRONGTYPE/))
      server.ask('LPUSH', `marquee:{${SCOPE}}:snapshot`, 'a list')
      await assert.rejects(store.getBlob('snapshot'), failsAs('foreign', /WRONGTYPE/))
      server.ask('DEL', LOG)
      server.ask('SET', LOG, 'a text')
      const named =
        /^the key marquee:\{\w+\}:log contains data of another application \(WRONGTYPE\): choose another cluster\.name/
      await assert.rejects(store.top(), failsAs('foreign', named))
      await assert.rejects(store.readAfter('1-0', 0, 16), failsAs('foreign', named))
      await assert.rejects(store.append(entryOf('1-0'), true), failsAs('foreign', named))
    }),

  'lets what is left behind expire, a day after it was written': () =>
    withServer(async (server) => {
      const store = await storeAt(server.url).connect()
      await store.writeField('nonces', 'a', '1')
      await store.append(entryOf('1-0'), true)
      await store.putBlob('snapshot', Buffer.from('a'))
      await store.writeField('nonces', 'a', '2')
      const again = await storeAt(server.url).connect()
      await again.append(entryOf('1-1'), true)
      const keys = server.ask('KEYS', '*').split('\n').toSorted()
      assert.deepEqual(keys, ['marquee:scopes', LOG, `marquee:{${SCOPE}}:nonces`, `marquee:{${SCOPE}}:snapshot`])
      for (const key of keys) assert.ok(Number(server.ask('TTL', key)) > 86_000, `${key} does not expire`)
      assert.equal(server.ask('HKEYS', 'marquee:scopes'), SCOPE)
    }),

  'renews that by time, however seldom a leader writes': () =>
    withServer(async (server) => {
      let nowMs = 0
      const store = await storeAt(server.url, { nowMs: () => nowMs }).connect()
      await store.append(entryOf('1-0'), true)
      const ttlAfter = async (number: number): Promise<number> => {
        server.ask('EXPIRE', LOG, '1000')
        nowMs += 1_800_000
        await store.append(entryOf(`1-${number}`), false)
        return Number(server.ask('TTL', LOG))
      }
      assert.ok((await ttlAfter(1)) <= 1000)
      assert.ok((await ttlAfter(2)) > 86_000)
      assert.ok((await ttlAfter(3)) <= 1000)
    }),

  'tells what an old server refuses, and no password that it repeats': async () => {
    const says = '-ERR unknown command `AUTH`, with args beginning with: `user`, `do-not-tell`, \r\n'
    await withAnswer(says, async (url) => {
      const said = await failureOf(sessionOf(url))
      assert.match(said, /^StoreFailure: the store does not know a command: ERR unknown command `AUTH`$/)
    })
  },

  'is not thrown by a server that is none': async () => {
    for (const says of [
      'HTTP/1.1 400 Bad Request\r\n\r\n',
      '\0\0\0\0\0',
      '$999999999999\r\n',
      '*-7\r\n',
      '+OK\r\n+OK\r\n',
    ]) {
      await withAnswer(says, async (url) => {
        const said = await failureOf(
          sessionOf(url).then((session) => session.ask((store) => store.append(entryOf('1-0'), true))),
        )
        assert.match(said, /^StoreFailure: /, JSON.stringify(says))
        assert.doesNotMatch(said, /do-not-tell/)
      })
    }
  },
}
