import { Buffer } from 'node:buffer'
import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, it } from 'bun:test'
import { sharedScope } from '../../src/commands/base.ts'
import { loadConfiguration } from '../../src/config/load-configuration.ts'
import { Signing } from '../../src/share/signing.ts'
import type { Runtime } from '../support/child.ts'
import { Child, programOf } from '../support/child.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import { RedisServer } from '../support/redis-server.ts'
import { describeWithRedis } from './needs-redis.ts'

const LISTS = { events: '[]', venues: JSON.stringify([{ Id: 'f0000000-0000-4000-8000-000000000000', Name: 'Hall' }]) }
const RIGHTS =
  'resetkeys ~marquee:* resetchannels -@all +xadd +xread +xrange +xrevrange +xtrim +hset +hgetall +hdel +get +set +unlink +exists +pexpire +ping +info'

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
  before?: string | null,
): Promise<Checked> {
  const folder = new FilesDirectory({ base: null, share: { url: { env: 'STORE' } }, ...more }, LISTS)
  try {
    if (before !== undefined) await writeLog(folder.configuration, before)
    const args = ['src/main.ts', 'check', '--json', '--config', folder.configuration]
    const child = new Child(programOf(runtime), args, { env: { STORE: url, ...env } })
    const status = await child.exited
    const { problems, warnings } = JSON.parse(child.stdout) as Checked
    return { status, problems, warnings: warnings.filter((warning) => warning.startsWith('share.')) }
  } finally {
    folder.remove()
  }
}

/** The log of these instances ends with an entry that this key signs, null: none; or a text is where it would be. */
async function writeLog(path: string, key: string | null): Promise<void> {
  const env = { STORE: redis.url, KEY: 'x'.repeat(32) }
  const text = readFileSync(path, 'utf8')
  const loaded = await loadConfiguration({ path, text, env, readFile: () => Promise.reject(new Error('none')) })
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems))
  const scope = sharedScope(loaded.configuration)
  const log = `marquee:{${scope}}:log`
  redis.ask('DEL', log)
  if (key === 'WRONGTYPE') return void redis.ask('SET', log, 'a text')
  const s = new Signing(scope, key === null ? [] : [key]).sign('log', '1-0', '{}', Buffer.alloc(0))
  redis.ask('XADD', log, '1-0', 'h', '{}', ...(s === null ? [] : ['s', s]))
}

function withRights(rights: string): string {
  redis.ask('ACL', 'SETUSER', 'one', 'reset', 'on', '>the-password', ...rights.split(' '))
  return redis.url.replace('//', '//one:the-password@')
}

describeWithRedis('check looks at the store that instances share', () => {
  it.each(['bun', 'node'] as const)(
    'finds nothing wrong with one that has the rights of the page, on %s',
    async (runtime) => {
      const url = withRights(RIGHTS)
      expect(await check(url, {}, runtime)).toEqual({ status: 0, problems: [], warnings: [] })
      expect(redis.ask('KEYS', '*')).toBe('')
      expect(redis.ask('ACL', 'LOG')).toBe('')
    },
  )

  it.each(RIGHTS.split(' ').filter((right) => right.startsWith('+') && right !== '+exists' && right !== '+ping'))(
    'names the right that lacks: %s',
    async (right) => {
      const { status, problems } = await check(
        withRights(RIGHTS.replace(`${right} `, '').replace(/ \+info$/, right === '+info' ? '' : ' +info')),
      )
      expect(status).toBe(1)
      const [problem = ''] = problems
      expect(problem).toMatch(/^share\.url: the store refuses: NOPERM/)
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
        'share.url: the store refused the connection',
        'share.url: the store refuses: WRONGPASS invalid username-password pair or user is disabled.',
        'share.url: this is a replica of 127.0.0.1; name the primary',
      ])
    } finally {
      await replica.remove()
    }
  })

  it('warns of a server that throws keys away, and of another scope', async () => {
    redis.ask('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru')
    redis.ask('HSET', 'marquee:scopes', 'ffffffffffff', '1', 'eeeeeeeeeeee', '1', 'check-aaaaaaaaaaaa', '1')
    redis.ask('XADD', 'marquee:{check-aaaaaaaaaaaa}:log', '1-0', 'h', '{}')
    redis.ask('XADD', 'marquee:{ffffffffffff}:log', '1-0', 'h', '{}')
    const { status, problems, warnings } = await check(redis.url)
    expect([status, problems]).toEqual([0, []])
    expect(warnings).toEqual([
      "share.url: the store's maxmemory-policy is allkeys-lru: it may throw the base away; noeviction does not",
      'share.name: marquee is in use for the scope ffffffffffff too: another release, CRM or mapping; within a roll-out that is as it should be',
    ])
  })

  it.each(['bun', 'node'] as const)('says on %s that another key signs the log than this one has', async (runtime) => {
    const [ours, theirs] = ['our key, which is long enough for this', 'their key, which is long enough for this']
    const keyed = (key: string | null, signed: string | null): Promise<Checked> => {
      const share = { url: { env: 'STORE' }, ...(key === null ? {} : { key: { env: 'KEY' } }) }
      return check(redis.url, { share }, runtime, { KEY: key ?? '' }, signed)
    }
    const told = [
      await keyed(ours, theirs),
      await keyed(null, theirs),
      await keyed(ours, null),
      await keyed(ours, ours),
      await keyed(`${theirs}\n${ours}`, ours),
      await keyed(null, null),
    ]
    expect(told.map(({ status, problems: [problem] }) => [status, problem])).toEqual([
      [1, 'share.key: it is not the key that the other instances sign with: all must have the same'],
      [1, 'share.key is not set, and the other instances sign what they write: give this one their key'],
      [1, 'share.key: the other instances sign nothing: all must have the same'],
      [0, undefined],
      [0, undefined],
      [0, undefined],
    ])
  })

  it('names the key where another application has written', async () => {
    const { status, problems } = await check(redis.url, {}, 'bun', {}, 'WRONGTYPE')
    expect(status).toBe(1)
    expect(problems.join()).toMatch(/^share\.url: the key marquee:\{\w{12}\}:log holds what another application wrote/)
  })

  it('says at a server that hangs that it did not answer', async () => {
    redis.freeze()
    const { status, problems } = await check(redis.url)
    expect([status, problems]).toEqual([1, ['share.url: the store did not answer within 5 s']])
  })

  it('ends with 2 where the settings do not go together', async () => {
    const { status, problems } = await check(redis.url, { freshness: { bound: '500ms' } })
    expect(status).toBe(2)
    expect(problems.join()).toContain('freshness.bound must be at least 1s where share is set')
  })
})
