import { readFileSync } from 'node:fs'

const NS_IN_MS = 1_000_000

/**
 * The processor time of a process's main thread, in ms. Of a service between a request and its answer, it is what held
 * the answer up: what other processes take of the machine meanwhile does not count.
 */
export function mainThreadMs(pid: number): number {
  const [processor = ''] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')
  return Number(processor) / NS_IN_MS
}
