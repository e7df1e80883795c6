import { afterEach, beforeEach, expect, it } from 'bun:test'
import { type Runtime, Child, programOf } from '../support/child.ts'
import { eventually } from '../support/eventually.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import { RedisServer } from '../support/redis-server.ts'
import { describeWithRedis } from './needs-redis.ts'
import { RIGHTS } from './rights-of-the-page.ts'
import { RUNTIMES } from '../support/depth.ts'

const LISTS = { events: '[]', venues: JSON.stringify([{ Id: 'f0000000-0000-4000-8000-000000000000', Name: 'Hall' }]) }

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
): Promise<Checked> {
  const folder = new FilesDirectory({ snapshot: null, cluster: { url: { env: 'STORE' } }, ...more }, LISTS)
  try {
    const args = ['src/main.ts', 'check', '--json', '--config', folder.configuration]
    const child = new Child(programOf(runtime), args, { env: { STORE: url, ...env } })
    const status = await child.exited
    const { problems, warnings } = JSON.parse(child.stdout) as Checked
    return { status, problems, warnings: warnings.filter((warning) => warning.startsWith('cluster.')) }
  } finally {
    folder.remove()
  }
}

function withRights(rights: readonly string[]): string {
  redis.ask('ACL', 'SETUSER', 'one', 'reset', 'on', '>the-password', ...rights)
  return redis.url.replace('//', '//one:the-password@')
}

describeWithRedis('check looks at the store that instances share', () => {
  it.each(RUNTIMES)('finds nothing wrong with one that has the rights of the page, on %s', async (runtime) => {
    const url = withRights(RIGHTS)
    expect(await check(url, {}, runtime)).toEqual({ status: 0, problems: [], warnings: [] })
    expect(redis.ask('KEYS', '*')).toBe('')
    expect(redis.ask('ACL', 'LOG')).toBe('')
  })

  it('names all rights that lack, and leaves nothing behind', async () => {
    const lacking = ['+hget', '+hset', '+hlen', '+type', '+xadd', '+eval']
    const rights = RIGHTS.filter((right) => !lacking.includes(right))
    const { status, problems } = await check(withRights(rights))
    expect(status).toBe(1)
    expect(problems).toEqual([
      'cluster.url: the user of the store lacks rights: grant it +eval +hset +hget +hlen +xadd +type on the keys of cluster.name',
    ])
    expect(redis.ask('KEYS', '*')).toBe('')
  })

  it('names every right of the page but those by which it looks', async () => {
    const { problems } = await check(withRights(RIGHTS.filter((right) => /^[^+]|^\+(?:ping|info)$/.test(right))))
    const named = /grant it (.*) on the keys/.exec(problems.join())?.[1]?.split(' ') ?? []
    const wanted = RIGHTS.filter((right) => /^\+(?!ping$|info$)/.test(right))
    expect(named.toSorted()).toEqual(wanted.toSorted())
  })

  it('says that the keys of another name are not granted', async () => {
    const { problems } = await check(withRights(RIGHTS.map((right) => right.replace('~marquee:', '~another:'))))
    expect(problems.join()).toContain('+hset (the store refuses a command: NOPERM')
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
      `cluster.url: the store's maxmemory-policy is ${policy}, which may evict rows; set it to noeviction`,
    ])
  })

  it.each(RUNTIMES)(
    'says on %s that another configuration is in use under the same name, if it moves',
    async (runtime) => {
      const write = (name: string, seq: number): void => {
        redis.ask('HSET', 'marquee:scopes', name, '1')
        redis.ask('HSET', `marquee:{${name}}:state`, 'token', 'a1', 'seq', `${seq}`)
      }
      write('eeeeeeeeeeee', 1)
      expect((await check(redis.url, {}, runtime)).warnings).toEqual([])
      let seq = 1
      const timer = setInterval(() => write('ffffffffffff', ++seq), 100)
      const { status, problems, warnings } = await eventually(
        () => check(redis.url, {}, runtime),
        (checked) => checked.warnings.length > 0,
      )
      clearInterval(timer)
      expect([status, problems]).toEqual([0, []])
      expect(warnings).toEqual([
        'cluster.name: another configuration or release is in use under the name marquee, which is normal during a roll-out; its leader reads the CRM too',
      ])
    },
  )

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
