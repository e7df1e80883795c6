import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, it } from 'bun:test'
import { dataFingerprint } from '../../src/snapshot/snapshot-keeper.ts'
import { loadConfiguration } from '../../src/config/read-configuration.ts'
import { logNameOf } from '../../src/cluster/entries.ts'
import { type Runtime, Child, programOf } from '../support/child.ts'
import { eventually } from '../support/eventually.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import { RedisServer } from '../support/redis-server.ts'
import { describeWithRedis } from './needs-redis.ts'
import { RUNTIMES } from '../support/depth.ts'

const LISTS = { events: '[]', venues: JSON.stringify([{ Id: 'f0000000-0000-4000-8000-000000000000', Name: 'Hall' }]) }
const RIGHTS =
  'resetkeys ~marquee:* resetchannels -@all +xadd +xread +xrange +xrevrange +xtrim +hset +hscan +hdel +get +set +unlink +exists +pexpire +ping +info'

let redis: RedisServer

beforeEach(async () => {
  redis = await RedisServer.start()
})

afterEach(() => redis.remove())

interface Checked {
  readonly status: unknown
  readonly problems: readonly string[]
  readonly warnings: readonly string[]
}

async function check(
  url: string,
  more: object = {},
  runtime: Runtime = 'bun',
  env: Readonly<Record<string, string>> = {},
  before: (log: string) => void = () => {},
): Promise<Checked> {
  const folder = new FilesDirectory({ snapshot: null, cluster: { url: { env: 'STORE' } }, ...more }, LISTS)
  try {
    before(await logOf(folder.configuration, { STORE: url, ...env }))
    const args = ['src/main.ts', 'check', '--json', '--config', folder.configuration]
    const child = new Child(programOf(runtime), args, { env: { STORE: url, ...env } })
    const status = await child.exited
    const { problems, warnings } = JSON.parse(child.stdout) as Checked
    return { status, problems, warnings: warnings.filter((warning) => warning.startsWith('cluster.')) }
  } finally {
    folder.remove()
  }
}

/**
 * Checks until it warns of so many things: what moves does so by timers of this process, which a machine may hold up for
 * as long as a check looks.
 */
function checkUntil(warned: number, ...given: Parameters<typeof check>): Promise<Checked> {
  const [url, more, runtime, env, before = () => {}] = given
  let isFirst = true
  const once = (log: string): void => {
    if (isFirst) before(log)
    isFirst = false
  }
  return eventually(
    () => check(url, more, runtime, env, once),
    ({ warnings }) => warnings.length === warned,
  )
}

/** The name of the log of instances with this configuration; empty if it is wrong. */
async function logOf(path: string, env: Readonly<Record<string, string>>): Promise<string> {
  const text = readFileSync(path, 'utf8')
  const loaded = await loadConfiguration({ path, text, env, readFile: () => Promise.reject(new Error('none')) })
  if (!loaded.ok) return ''
  return logNameOf(dataFingerprint(loaded.configuration, {}) ?? '', loaded.configuration.cluster?.key?.reveal() ?? null)
}

function withRights(rights: string): string {
  redis.ask('ACL', 'SETUSER', 'one', 'reset', 'on', '>the-password', ...rights.split(' '))
  return redis.url.replace('//', '//one:the-password@')
}

describeWithRedis('check looks at the store that instances share', () => {
  it.each(RUNTIMES)('finds nothing wrong with one that has the rights of the page, on %s', async (runtime) => {
    const url = withRights(RIGHTS)
    expect(await check(url, {}, runtime)).toEqual({ status: 0, problems: [], warnings: [] })
    expect(redis.ask('KEYS', '*')).toBe('')
    expect(redis.ask('ACL', 'LOG')).toBe('')
  })

  it.each(RIGHTS.split(' ').filter((right) => right.startsWith('+') && right !== '+exists' && right !== '+ping'))(
    'names the right that lacks: %s',
    async (right) => {
      const { status, problems } = await check(
        withRights(RIGHTS.replace(`${right} `, '').replace(/ \+info$/, right === '+info' ? '' : ' +info')),
      )
      expect(status).toBe(1)
      const [problem = ''] = problems
      expect(problem).toMatch(/^cluster\.url: the store refuses a command: NOPERM/)
      expect(problem).toContain(`'${right.slice(1)}'`)
      // What it may not take away goes of itself.
      for (const key of redis.ask('KEYS', '*').split('\n').filter(Boolean)) {
        expect([key, Number(redis.ask('PTTL', key)) > 0 && Number(redis.ask('PTTL', key)) <= 60_000]).toEqual([
          key,
          true,
        ])
      }
      expect(redis.ask('EXISTS', 'marquee:scopes')).toBe('0')
    },
  )

  it('names the first right that lacks, not the one to take its keys away', async () => {
    const { problems } = await check(withRights(RIGHTS.replace('+xtrim ', '').replace('+unlink ', '')))
    expect(problems).toEqual([expect.stringContaining("'xtrim'") as string])
  })

  it('tells of one that cannot be reached, of a wrong password and of a replica, and shows none', async () => {
    const replica = await RedisServer.start(['--replicaof', '127.0.0.1', String(redis.port)])
    try {
      const told = [
        await check('redis://127.0.0.1:1/0'),
        await check(withRights(RIGHTS).replace('the-password', 'another')),
        await check(replica.url),
      ]
      expect(told.map(({ status }) => status)).toEqual([1, 1, 1])
      expect(told.map(({ problems: [problem] }) => problem)).toEqual([
        'cluster.url: the store refused the connection',
        'cluster.url: the store refuses a command: WRONGPASS invalid username-password pair or user is disabled.',
        'cluster.url: this is a replica of 127.0.0.1; name the primary',
      ])
    } finally {
      await replica.remove()
    }
  })

  it('says to a person that a replica is not usable, and of no right that it was granted', async () => {
    const replica = await RedisServer.start(['--replicaof', '127.0.0.1', String(redis.port)])
    const folder = new FilesDirectory({ snapshot: null, cluster: { url: { env: 'STORE' } } }, LISTS)
    try {
      const lines: string[] = []
      for (const url of [redis.url, replica.url]) {
        const args = ['src/main.ts', 'check', '--config', folder.configuration]
        const child = new Child(programOf('bun'), args, { env: { STORE: url } })
        await child.exited
        lines.push(/^Cluster store: Redis [\d.]+, (.*)$/m.exec(child.stdout)?.[1] ?? '')
      }
      expect(lines).toEqual(['reachable, all rights granted.', 'reachable, but not usable.'])
    } finally {
      folder.remove()
      await replica.remove()
    }
  })

  it.each(['allkeys-lru', 'volatile-ttl'])('warns of a server that throws keys away: %s', async (policy) => {
    redis.ask('CONFIG', 'SET', 'maxmemory-policy', policy)
    const { status, problems, warnings } = await check(redis.url)
    expect([status, problems]).toEqual([0, []])
    expect(warnings).toEqual([
      `cluster.url: the store's maxmemory-policy is ${policy}, which may evict the snapshot; set it to noeviction`,
    ])
  })

  it.each(RUNTIMES)(
    'names on %s the logs under the same name that move, and none that stands still',
    async (runtime) => {
      const cluster = { url: { env: 'STORE' }, key: { env: 'KEY' } }
      const env = { KEY: 'our key, which is long enough for this' }
      let [fingerprint, timer] = ['', setInterval(() => {}, 1000)]
      const { status, problems, warnings } = await checkUntil(2, redis.url, { cluster }, runtime, env, (own) => {
        fingerprint = own.slice(0, 12)
        const moving = ['ffffffffffff', `${fingerprint}-00000000`, 'check-aaaaaaaaaaaa']
        const write = (name: string): void =>
          void redis.ask('XADD', `marquee:{${name}}:log`, `1-${++entries}`, 'h', '{}')
        let entries = 0
        for (const name of [...moving, 'eeeeeeeeeeee']) {
          redis.ask('HSET', 'marquee:scopes', name, '1')
          write(name)
        }
        timer = setInterval(() => moving.forEach(write), 200)
      })
      clearInterval(timer)
      expect([status, problems]).toEqual([0, []])
      const [release, key] = [
        'it is from another release, CRM or mapping, which is normal during a roll-out',
        'it uses another cluster.key: set the same key on all instances',
      ]
      const told = [`${fingerprint}-00000000 too: ${key}`, `ffffffffffff too: ${release}`]
      expect(warnings).toEqual(told.map((one) => `cluster.name: marquee is in use by the log ${one}`))
    },
  )

  it.each(RUNTIMES)('says on %s what is wrong with a log, and what becomes of it', async (runtime) => {
    let timer = setInterval(() => {}, 1000)
    const told: (readonly string[])[] = []
    for (const deed of [
      (log: string) => redis.ask('XADD', `marquee:{${log}}:log`, '7-0', 'temperature', '20'),
      (log: string) => {
        const nonce = (number: number): void => void redis.ask('HSET', `marquee:{${log}}:nonces`, 'a', `${number}`)
        let nonces = 0
        redis.ask('DEL', `marquee:{${log}}:log`)
        nonce(0)
        timer = setInterval(() => nonce(++nonces), 200)
      },
    ]) {
      const { status, warnings } = await checkUntil(1, redis.url, {}, runtime, {}, deed)
      clearInterval(timer)
      expect(status).toBe(0)
      told.push(warnings)
    }
    expect(told).toEqual([
      [expect.stringMatching(/^cluster\.name: entry 7-0 cannot be read: .*replace a log that has no leader/) as string],
      [expect.stringMatching(/^cluster\.name: there are instances, but none leads: there is no log/) as string],
    ])
  })

  it('names the key where another application has written', async () => {
    const { status, problems } = await check(redis.url, {}, 'bun', {}, (log) => {
      redis.ask('SET', `marquee:{${log}}:log`, 'a text')
    })
    expect(status).toBe(1)
    expect(problems.join()).toMatch(
      /^cluster\.url: the key marquee:\{\w{12}\}:log contains data of another application/,
    )
  })

  it('says at a server that hangs that it did not answer', async () => {
    redis.freeze()
    const { status, problems } = await check(redis.url)
    expect([status, problems]).toEqual([1, ['cluster.url: the store did not answer within 5 s']])
  })

  it('ends with 2 where the settings do not go together', async () => {
    const { status, problems } = await check(redis.url, { freshness: { maxAge: '500ms' } })
    expect(status).toBe(2)
    expect(problems.join()).toContain('freshness.maxAge must be at least 1s if cluster is set')
  })
})
