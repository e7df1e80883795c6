import { beforeAll, describe, expect, it } from 'bun:test'
import { chmodSync, copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { RECORDS } from '../../src/crm/mapping/map-row.ts'
import { SNAPSHOT_FORMAT } from '../../src/snapshot/snapshot-lines.ts'
import { dataFingerprintOf } from '../../src/snapshot/data-fingerprint.ts'
import { loadConfiguration } from '../../src/config/read-configuration.ts'
import { parseGuid } from '../../src/domain/guid.ts'
import { Formatter } from '../../src/formats/format.ts'
import { SnapshotFile } from '../../src/snapshot/snapshot-file.ts'
import { ListMaker, type RecordLists } from '../../src/records/row-records.ts'
import { systemTime } from '../../src/time/time.ts'
import { describeWithRedis } from '../cluster/needs-redis.ts'
import { ROOT } from '../support/child.ts'
import { exposed } from '../support/exposed-metrics.ts'
import { namedSince } from './named-since.ts'
import { namesIn, schemaNamesIn } from './names-in.ts'
import { releaseRun, type ReleaseRun } from './release-run.ts'

const VERSIONS = readdirSync(import.meta.dirname).filter((name) => /^\d+\.\d+\.\d+/.test(name))
const CHANGELOG = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8')
const ENVIRONMENT = {
  MARQUEE_TOKEN: 'open-sesame',
  MARQUEE_WEBHOOK: 'whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=',
  MARQUEE_REDIS_URL: 'rediss://store.example.org:6379/0',
  DATABASE_URL: 'postgres://marquee@database.example.org/crm',
  DATAVERSE_CLIENT_SECRET: 'a secret',
  CRM_SECRET: 'a-secret',
}

it('there are fixtures of a release', () => {
  expect(VERSIONS).not.toEqual([])
})

describe.each(VERSIONS)('what %s left behind', (version) => {
  const folder = join(import.meta.dirname, version)
  const kept = (name: string): string => readFileSync(join(folder, name), 'utf8')
  const isNamed = namedSince(CHANGELOG, version)

  const configurationOf = (path: string, text: string) =>
    loadConfiguration({ path, text, env: ENVIRONMENT, readFile: () => Promise.resolve(Buffer.from('')) })

  it.each(readdirSync(join(folder, 'configurations')).filter((name) => name.endsWith('.yaml')))(
    'the configuration %s is accepted, or CHANGELOG names the key',
    async (name) => {
      // A connector must not be in a folder that others may write.
      const installed = mkdtempSync(join(tmpdir(), 'marquee-earlier-'))
      copyFileSync(join(folder, 'configurations/our-crm.mjs'), join(installed, 'our-crm.mjs'))
      chmodSync(join(installed, 'our-crm.mjs'), 0o600)
      const loaded = await configurationOf(join(installed, 'marquee.yaml'), kept(`configurations/${name}`))
      rmSync(installed, { recursive: true })
      const problems = loaded.ok ? [] : loaded.problems.filter(({ key }) => !isNamed(key))
      expect(problems.map(({ key, message }) => `${key} ${message}`)).toEqual([])
    },
  )

  /** Whether the lists answer each question as that version did; fields may have been added. */
  function expectAnswers(lists: RecordLists): void {
    const answers = JSON.parse(kept('answers.json')) as Readonly<Record<string, object>>
    expect(Object.keys(answers)).toHaveLength(3)
    for (const [path, answer] of Object.entries(answers)) {
      const [, list = '', id = ''] = path.split('/')
      const guid = parseGuid(id)
      const { events, venues } = lists
      const body = guid && (list === 'events' ? events.represent(guid, 'json') : venues.represent(guid, 'json'))?.body
      expect(JSON.parse(typeof body === 'string' ? body : new TextDecoder().decode(body ?? undefined))).toMatchObject(
        answer,
      )
    }
  }

  const emptyLists = (): RecordLists =>
    new ListMaker(
      new Formatter(() => ({ basePath: '/', namespace: 'Marquee', links: { event: [], venue: [] } })),
    ).make()

  it('the snapshot is read as it was written, or CHANGELOG names "snapshot format"', async () => {
    const name = readdirSync(folder).find((file) => file.endsWith('.snapshot')) ?? ''
    const loaded = await configurationOf(join(folder, 'marquee.yaml'), kept('configuration.json'))
    if (!loaded.ok) throw new Error(loaded.problems.map(({ message }) => message).join())
    // With another format or mapping the file is not looked at, and the lists are read in full. Neither is it with other
    // time zone data, which the files of a release may be older than.
    const { timeZoneData = [] } = JSON.parse(kept('status.json')) as { readonly timeZoneData?: string }
    const versions = [SNAPSHOT_FORMAT, RECORDS, timeZoneData].flat()
    const isUsed = `${dataFingerprintOf(loaded.configuration, versions)}.snapshot` === name
    if (!isUsed) return expect(isNamed('snapshot format')).toBe(true)
    const directory = mkdtempSync(join(tmpdir(), 'marquee-earlier-'))
    copyFileSync(join(folder, name), join(directory, name))
    chmodSync(join(directory, name), 0o600)
    const [first = ''] = gunzipSync(readFileSync(join(folder, name)))
      .toString('utf8')
      .split('\n', 1)
    const { begunAtMs } = JSON.parse(first) as { readonly begunAtMs: number }
    const limits = { memoryBytes: 1e9 }
    const fingerprint = name.replace('.snapshot', '')
    const file = new SnapshotFile({
      directory,
      fingerprint: () => fingerprint,
      limits: () => limits,
      pause: () => Promise.resolve(),
    })
    const lists = emptyLists()
    const now = { ...systemTime.now(), wallMs: begunAtMs + 1000 }
    const stored = await file.read(lists, now, new AbortController().signal)
    rmSync(directory, { recursive: true })
    expect(stored?.rows).toBeGreaterThan(3)
    expectAnswers(lists)
  })

  describeWithRedis('names that operators and callers rely on', () => {
    let now: ReleaseRun
    beforeAll(async () => {
      now = await releaseRun()
    })

    /** The names of that version that are gone and that CHANGELOG does not name. */
    const gone = (before: readonly string[], after: readonly string[]): readonly string[] => {
      const there = new Set(after)
      return before.filter((name) => !there.has(name) && !isNamed(name))
    }

    it('each field of /status is there still, or CHANGELOG names it', () => {
      const before = namesIn(JSON.parse(kept('status.json')))
      expect(before.length).toBeGreaterThan(40)
      expect(gone(before, namesIn(JSON.parse(now.status)))).toEqual([])
    })

    it('each metric is there still with its labels, or CHANGELOG names it', () => {
      const namesOf = (text: string): readonly string[] =>
        exposed(text).flatMap(({ name, type, labels }) => [
          `${name} ${type}`,
          ...labels.map((label) => `${name}{${label}}`),
        ])
      const before = namesOf(kept('metrics.txt'))
      expect(before.length).toBeGreaterThan(40)
      expect(gone(before, namesOf(now.metrics))).toEqual([])
    })

    it('each path, answer and property of the OpenAPI document is there still, or CHANGELOG names it', () => {
      const before = schemaNamesIn(JSON.parse(kept('openapi.json')))
      expect(before.length).toBeGreaterThan(200)
      expect(gone(before, schemaNamesIn(JSON.parse(now.openapi)))).toEqual([])
    })
  })
})

it('the fixtures of this release are those of its version', () => {
  for (const version of VERSIONS) {
    expect(JSON.parse(readFileSync(join(import.meta.dirname, version, 'status.json'), 'utf8'))).toMatchObject({
      version,
    })
    expect(existsSync(join(import.meta.dirname, version, 'status.json'))).toBe(true)
  }
})
