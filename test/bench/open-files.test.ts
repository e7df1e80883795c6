import { expect, it } from 'bun:test'
import { allowedBy } from '../../bench/machine/open-files.ts'
import { mayKeepOpen } from '../../bench/servers/nginx.ts'

const limits = (soft: string): string => `Limit                     Soft Limit           Hard Limit           Units
Max processes             31000                31000                processes
Max open files            ${soft.padEnd(21)}unlimited            files
`

it('a process may open as many files as its soft limit says', () => {
  expect(allowedBy(limits('20000'))).toBe(20_000)
  expect(allowedBy(limits('unlimited'))).toBe(Infinity)
})

it('a process may open a modest number of files where no limit can be read', () => {
  expect(allowedBy('')).toBe(1024)
})

it('nginx keeps bodies open only where it may keep the four of every event open, beside its connections', () => {
  expect(mayKeepOpen(10_000, Infinity)).toBe(true)
  expect(mayKeepOpen(4936, 20_000)).toBe(true)
  expect(mayKeepOpen(4937, 20_000)).toBe(false)
  expect(mayKeepOpen(1, 256)).toBe(false)
})
