import assert from 'node:assert/strict'
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
import { RIGHTS } from './rights-of-the-page.ts'
import { claimOf, rowOf, SENTENCES, writeOf } from './store-sentences.ts'

const SCOPE = '0123456789ab'
const KEY = `marquee:{${SCOPE}}:`
/** More than a machine may stand still: what is answered is answered within it. */
const LIMIT_MS = 4000

type Given = Partial<Omit<RedisSettings, 'url'>>

function storeAt(url: string | Secret, given: Given = {}): RedisStore {
  const secret = typeof url === 'string' ? new Secret(url, IN_THE_FILE) : url
  return new RedisStore({ url: secret, ca: null, sentinel: null, name: 'marquee', ...given }, SCOPE)
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

/** Claims, which needs most rights. */
async function usable(connection: StoreConnection): Promise<void> {
  const seen = await connection.state()
  assert.notEqual(await connection.claim(claimOf({ token: seen.token === 'a1' ? 'b2' : 'a1', seen })), null)
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
      await usable(store)
      const rejected = assert.rejects(store.readAfter(1, 60_000, 16), failsAs('lost'))
      await server.end()
      await rejected
      await assert.rejects(store.state(), failsAs('lost'))
      await assert.rejects(storeAt(server.url).connect(), failsAs('lost', /^the store refused the connection$/))
      await server.run()
      await assert.rejects(store.state(), failsAs('lost'))
      await usable(await storeAt(server.url).connect())
    }),

  'is within its limit while the server is stopped, and uses nothing that comes late': () =>
    withServer(async (server) => {
      const session = await sessionOf(server.url)
      await session.ask(usable)
      server.freeze()
      await assert.rejects(
        session.ask((store) => store.readAfter(1, 100, 16), 100),
        failsAs('late', /within 4\.1 s/),
      )
      await assert.rejects(
        session.ask((store) => store.state()),
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
      await usable(store)
      const closed = failsAs('lost', /^the store closed the connection$/)
      const rejected = assert.rejects(store.readAfter(1, 60_000, 16), closed)
      server.ask('CLIENT', 'KILL', 'TYPE', 'normal')
      await rejected
      await assert.rejects(store.state(), closed)
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
          session.ask((store) => store.state()),
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
      await store.claim(claimOf())
      const waited = other.readAfter(1, 30, 16)
      server.ask('FLUSHALL')
      assert.deepEqual(await waited, [])
      assert.equal(await store.write(writeOf({ token: 'a1', seq: 1 })), null)
    }),

  'begins the stream again if somebody else wrote to it': () =>
    withServer(async (server) => {
      const store = await storeAt(server.url).connect()
      await store.claim(claimOf())
      const at = (seq: number): { token: string; seq: number } => ({ token: 'a1', seq })
      const highest = '18446744073709551615-18446744073709551615'
      server.ask('XADD', `${KEY}log`, highest, 'a', 'slip')
      assert.notEqual(await store.write(writeOf(at(1), { rows: [rowOf(1, 1)] })), null)
      assert.deepEqual(
        (await store.readAfter(0, 1, 16)).map(({ seq }) => seq),
        [2],
      )
      server.ask('XADD', `${KEY}log`, '*', 'temperature', '20')
      server.ask('XDEL', `${KEY}log`, server.ask('XADD', `${KEY}log`, '*', 'a', 'slip'))
      const [, strange] = await store.readAfter(0, 1, 16)
      assert.deepEqual([strange?.token, strange?.claim, strange?.rows], ['', null, null])
      assert.notEqual(await store.write(writeOf(at(2), { rows: [rowOf(2, 1)], beat: '{}' })), null)
      assert.deepEqual(
        (await store.readAfter(0, 1, 16)).map(({ seq }) => seq),
        [3],
      )
    }),

  'takes keys of another type for none, and removes them with the next claim': () =>
    withServer(async (server) => {
      const store = await storeAt(server.url).connect()
      for (const key of ['state', 'log', 'events', 'venues', 'members']) server.ask('SET', `${KEY}${key}`, 'a text')
      assert.equal((await store.state()).token, '')
      assert.deepEqual(await store.readAfter(0, 1, 16), [])
      assert.deepEqual((await store.scan('events', '0', 10)).rows, [])
      await store.tick('one', '1')
      assert.deepEqual(await store.members(), new Map())
      await store.tick('one', '1')
      assert.deepEqual(await store.claim(claimOf()), { seq: 1, epoch: 1 })
      const rows = [rowOf(1, 1), rowOf(2, 1)]
      const sizes = await store.write(writeOf({ token: 'a1', seq: 1 }, { rows, beat: '{}' }))
      assert.deepEqual(sizes, { events: 1, venues: 1 })
    }),

  'tells `check` of other configurations that are in use, and reads nothing else': () =>
    withServer(async (server) => {
      const store = await storeAt(server.url).connect()
      const [other, none] = ['aaaaaaaaaaaa', 'bbbbbbbbbbbb']
      await store.claim(claimOf())
      for (const name of [other, none, 'no scope']) server.ask('HSET', 'marquee:scopes', name, '1')
      server.ask('HSET', `marquee:{${other}}:state`, 'token', 'b2', 'seq', '7')
      server.ask('SET', `marquee:{${none}}:state`, 'a text')
      const found = await store.otherScopes(SCOPE)
      assert.deepEqual(
        [...found].toSorted(([left], [right]) => (left < right ? -1 : 1)),
        [
          [other, { token: 'b2', seq: 7 }],
          [none, { token: '', seq: 0 }],
        ],
      )
    }),

  'says that a server is full, and writes nothing by halves': () =>
    withServer(async (server) => {
      const at = { token: 'a1', seq: 1 }
      const store = await storeAt(server.url).connect()
      await store.claim(claimOf())
      server.ask('CONFIG', 'SET', 'maxmemory', '1000')
      const told = failsAs('full', /^the store accepts no more data: raise its maxmemory, .* \(.*OOM .*\)$/)
      await assert.rejects(store.write(writeOf(at, { rows: [rowOf(1, 1)], beat: '{}' })), told)
      await assert.rejects(store.claim(claimOf({ token: 'b2', seen: at })), told)
      await assert.rejects(store.tick('one', '1'), told)
      server.ask('CONFIG', 'SET', 'maxmemory', '0')
      const { token, seq } = await store.state()
      assert.deepEqual([{ token, seq }, (await store.readAfter(1, 1, 16)).length], [at, 0])
      assert.deepEqual(await store.write(writeOf(at, { rows: [rowOf(1, 2)], beat: '{}' })), { events: 1, venues: 0 })
    }),

  'cuts the stream, but for what is still needed': () =>
    withServer(async (server) => {
      const store = await storeAt(server.url).connect()
      await store.claim(claimOf())
      const rows = [rowOf(1, 1, 'x'.repeat(1000))]
      for (let seq = 1; seq < 1000; seq++) {
        await store.write(writeOf({ token: 'a1', seq }, { rows, cutSeq: Math.max(0, seq - 100) }))
      }
      const left = await store.readAfter(0, 1, 2000)
      assert.ok(left.length >= 100 && left.length < 300, `${left.length} are left`)
      assert.equal(left.at(-1)?.seq, 1000)
    }),

  'is used in a Redis Cluster of one node, because all keys are in one slot': () =>
    withServer(
      async (server) => {
        server.ask('CLUSTER', 'ADDSLOTSRANGE', '0', '16383')
        await eventually(
          async () => server.ask('CLUSTER', 'INFO'),
          (text) => text.includes('cluster_state:ok'),
        )
        for (const sentence of Object.values(SENTENCES)) {
          server.ask('FLUSHALL')
          await sentence(() => storeAt(server.url).connect())
        }
      },
      ['--cluster-enabled', 'yes'],
    ),

  'says that a replica refuses, which only follows a primary': () =>
    withServer((primary) =>
      withServer(
        async (replica) => {
          const store = await storeAt(replica.url).connect()
          const told = failsAs('refused', /^the store refuses a command: .*READONLY/)
          await assert.rejects(store.claim(claimOf()), told)
          await assert.rejects(store.tick('one', '1'), told)
        },
        ['--replicaof', '127.0.0.1', String(primary.port)],
      ),
    ),

  'needs no right but those of the page': () =>
    withServer(async (server) => {
      server.ask('ACL', 'SETUSER', 'one', 'on', '>secret', ...RIGHTS)
      const url = `redis://one:secret@127.0.0.1:${server.port}/0`
      for (const sentence of Object.values(SENTENCES)) {
        server.ask('FLUSHALL')
        await sentence(() => storeAt(url).connect())
      }
      assert.deepEqual(server.ask('ACL', 'LOG'), '')
      await assert.rejects(
        storeAt(url, { name: 'another' }).connect().then(usable),
        failsAs('refused', /NOPERM|can't (?:run|access)/),
      )
      const another = ['EVAL', "return redis.call('HGET', 'another:key', 'a')", '0']
      for (const command of [['KEYS', '*'], ['FLUSHALL'], ['HGET', 'another:key', 'a'], another]) {
        const said = server.ask('--no-auth-warning', '-u', url, ...command)
        assert.match(said, /NOPERM|can't (?:run|access)/)
      }
    }),

  'says that a right was taken away': () =>
    withServer(async (server) => {
      server.ask('ACL', 'SETUSER', 'one', 'on', '>secret', ...RIGHTS)
      const store = await storeAt(`redis://one:secret@127.0.0.1:${server.port}/0`).connect()
      await usable(store)
      server.ask('ACL', 'SETUSER', 'one', '-hset')
      await assert.rejects(store.tick('one', '1'), failsAs('refused', /^the store refuses a command: NOPERM/))
      server.ask('ACL', 'SETUSER', 'one', '+hset', '-xadd')
      await assert.rejects(usable(store), failsAs('refused', /^the store refuses a command: /))
      assert.deepEqual(await store.refusedRights(), ['+xadd'])
    }),

  'reads a password again that was replaced, and tells none': () =>
    withServer(async (server) => {
      server.ask('ACL', 'SETUSER', 'one', 'on', '>first', ...RIGHTS)
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

  'lets all expire, a day after the leader last wrote': () =>
    withServer(async (server) => {
      const store = await storeAt(server.url).connect()
      await store.claim(claimOf())
      await store.tick('one', '1')
      const rows = [rowOf(1, 1), rowOf(2, 1)]
      await store.write(writeOf({ token: 'a1', seq: 1 }, { rows, beat: '{}' }))
      const keys = server.ask('KEYS', '*').split('\n').toSorted()
      const ours = ['events', 'log', 'members', 'state', 'venues'].map((key) => `${KEY}${key}`)
      assert.deepEqual(keys, ['marquee:scopes', ...ours])
      for (const key of keys) assert.ok(Number(server.ask('TTL', key)) > 86_000, `${key} does not expire`)
    }),

  'tells what an old server refuses, and no password that it repeats': async () => {
    const says = '-ERR unknown command `AUTH`, with args beginning with: `user`, `do-not-tell`, \r\n'
    await withAnswer(says, async (url) => {
      const said = await failureOf(sessionOf(url))
      assert.match(said, /^StoreFailure: the store refuses a command: ERR unknown command `AUTH`$/)
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
        const said = await failureOf(sessionOf(url).then((session) => session.ask(usable)))
        assert.match(said, /^StoreFailure: /, JSON.stringify(says))
        assert.doesNotMatch(said, /do-not-tell/)
      })
    }
  },
}
