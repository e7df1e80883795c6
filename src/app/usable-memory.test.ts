import { afterEach, beforeEach, describe, expect, it } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { usableMemoryBytes, usualReadyBytes } from './usable-memory.ts'

const MACHINE = 16e9

describe('the memory that the process may use', () => {
  let root = ''
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'marquee-'))
  })
  afterEach(() => rmSync(root, { recursive: true }))

  const has = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  const usable = (): number => usableMemoryBytes(root, MACHINE)

  it("is the machine's where there are no control groups", () => {
    expect(usable()).toBe(MACHINE)
  })

  it('is the limit of its control group, version 2', () => {
    has('proc/self/cgroup', '0::/system.slice/marquee.service\n')
    has('sys/fs/cgroup/system.slice/marquee.service/memory.max', '1073741824\n')
    expect(usable()).toBe(2 ** 30)
  })

  it('is the lowest limit of all groups above it', () => {
    has('proc/self/cgroup', '0::/kubepods/pod7/marquee\n')
    has('sys/fs/cgroup/kubepods/pod7/marquee/memory.max', 'max\n')
    has('sys/fs/cgroup/kubepods/pod7/memory.max', '536870912\n')
    has('sys/fs/cgroup/kubepods/memory.max', '8589934592\n')
    expect(usable()).toBe(2 ** 29)
  })

  it('is the limit of a container that sees only its own group', () => {
    has('proc/self/cgroup', '0::/../../other\n')
    has('sys/fs/cgroup/memory.max', '268435456\n')
    expect(usable()).toBe(2 ** 28)
  })

  it('is the limit of its control group, version 1', () => {
    has('proc/self/cgroup', '5:cpu,cpuacct:/docker/1\n4:memory:/docker/1\n1:name=systemd:/docker/1\n0::/docker/1\n')
    has('sys/fs/cgroup/memory/memory.limit_in_bytes', '2147483648\n')
    expect(usable()).toBe(2 ** 31)
    has('sys/fs/cgroup/memory/docker/1/memory.limit_in_bytes', '1073741824\n')
    expect(usable()).toBe(2 ** 30)
  })

  it("is the machine's where a group has no limit, or what cannot be read", () => {
    has('proc/self/cgroup', '4:memory:/a\n0::/a\n')
    // Version 1 has no word for "no limit".
    has('sys/fs/cgroup/memory/a/memory.limit_in_bytes', '9223372036854771712\n')
    has('sys/fs/cgroup/a/memory.max', 'max\n')
    has('sys/fs/cgroup/memory.max', '\n')
    expect(usable()).toBe(MACHINE)
  })

  it("is at most this machine's, as read here", () => {
    const bytes = usableMemoryBytes()
    expect(bytes).toBeGreaterThan(2 ** 20)
    expect(Number.isSafeInteger(bytes)).toBe(true)
  })
})

it('bodies get an eighth of it, 128 MB to 2 GB', () => {
  expect([100e6, 1024e6, 1e9, 8e9, 16e9, 64e9].map((usable) => usualReadyBytes(usable))).toEqual([
    128e6, 128e6, 128e6, 1e9, 2e9, 2e9,
  ])
})
