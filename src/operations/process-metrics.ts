import { readdirSync } from 'node:fs'
import type { Time } from '../time/time.ts'
import { type Metric, type Sample, counter, gauge } from './exposition.ts'

/** Returns the process metrics under Prometheus' standard names, as far as both runtimes provide them. */
export function processMetrics(time: Time): readonly Metric[] {
  const startedAtS = time.now().wallMs / 1000 - process.uptime()
  return [
    gauge('process_start_time_seconds', 'Start of the process, in seconds since 1970.', () => startedAtS),
    counter('process_cpu_seconds_total', 'Processor time of all threads of the process.', () => {
      const { user, system } = process.cpuUsage()
      return (user + system) / 1e6
    }),
    gauge('process_resident_memory_bytes', 'Resident memory of the process.', () => process.memoryUsage.rss()),
    gauge('process_open_fds', 'Open file descriptors; only on Linux.', openFiles),
  ]
}

function openFiles(): number | readonly Sample[] {
  try {
    return readdirSync('/proc/self/fd').length
  } catch {
    return []
  }
}
