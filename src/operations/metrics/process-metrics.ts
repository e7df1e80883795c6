import { readdirSync } from 'node:fs'
import type { Registry } from 'prom-client'
import type { Time } from '../../replica/time.ts'
import { scrapedCounter, scrapedGauge, single } from './scraped.ts'

/**
 * The process, in the names every Prometheus dashboard knows: only what is true on both runtimes. prom-client's own defaults
 * are not used, for on Bun they show heap spaces of 0 and no garbage collections.
 */
export function addProcessMetrics(registry: Registry, time: Time): void {
  const startedAtS = time.now().wallMs / 1000 - process.uptime()
  scrapedGauge(registry, {
    name: 'process_start_time_seconds',
    help: 'When the process started, in seconds since 1970.',
    samples: () => single(startedAtS),
  })
  scrapedCounter(registry, {
    name: 'process_cpu_seconds_total',
    help: 'Processor time of the process, its threads included.',
    samples() {
      const { user, system } = process.cpuUsage()
      return single((user + system) / 1e6)
    },
  })
  scrapedGauge(registry, {
    name: 'process_resident_memory_bytes',
    help: 'Resident memory of the process.',
    samples: () => single(process.memoryUsage.rss()),
  })
  scrapedGauge(registry, {
    name: 'process_open_fds',
    help: 'Open file descriptors; absent where the system does not tell.',
    samples: openFiles,
  })
}

function openFiles(): ReturnType<typeof single> {
  try {
    return single(readdirSync('/proc/self/fd').length)
  } catch {
    return []
  }
}
