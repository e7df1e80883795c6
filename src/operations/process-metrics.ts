import { readdirSync } from 'node:fs'
import type { Time } from '../replica/time.ts'
import type { Metric, Sample } from './exposition.ts'

/** The process, in the names every Prometheus dashboard knows: only what is true on both runtimes. */
export function processMetrics(time: Time): readonly Metric[] {
  const startedAtS = time.now().wallMs / 1000 - process.uptime()
  return [
    {
      name: 'process_start_time_seconds',
      help: 'When the process started, in seconds since 1970.',
      type: 'gauge',
      samples: () => [{ value: startedAtS }],
    },
    {
      name: 'process_cpu_seconds_total',
      help: 'Processor time of the process, its threads included.',
      type: 'counter',
      samples() {
        const { user, system } = process.cpuUsage()
        return [{ value: (user + system) / 1e6 }]
      },
    },
    {
      name: 'process_resident_memory_bytes',
      help: 'Resident memory of the process.',
      type: 'gauge',
      samples: () => [{ value: process.memoryUsage.rss() }],
    },
    {
      name: 'process_open_fds',
      help: 'Open file descriptors; absent where the system does not tell.',
      type: 'gauge',
      samples: openFiles,
    },
  ]
}

function openFiles(): readonly Sample[] {
  try {
    return [{ value: readdirSync('/proc/self/fd').length }]
  } catch {
    return []
  }
}
