import { expect, it } from 'bun:test'
import { allowedBy } from '../../bench/machine/open-files.ts'
import { keptOpenOf } from '../../bench/servers/nginx.ts'

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

it('nginx keeps no more bodies open than its share of the files it may open', () => {
  expect(keptOpenOf(Infinity)).toBe(50_000)
  expect(keptOpenOf(20_000)).toBe(19_744)
  expect(keptOpenOf(1024)).toBe(768)
  expect(keptOpenOf(256)).toBe(1)
})
