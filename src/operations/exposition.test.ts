import { describe, expect, it } from 'bun:test'
import { Buckets } from '../observe/telemetry.ts'
import { systemTime } from '../time/time.ts'
import { type MetricsOptions, distribution, expose, metricsOf } from './metrics.ts'

describe("Prometheus' text format", () => {
  it('escapes the values of labels, which may be names of columns in a CRM', () => {
    const samples = () => [{ labels: { column: 'a"b\\c\nd' }, value: 1 }]
    expect(expose([{ name: 'm', help: 'Why.', type: 'gauge', samples }])).toBe(
      '# HELP m Why.\n# TYPE m gauge\nm{column="a\\"b\\\\c\\nd"} 1\n\n',
    )
  })

  it('adds up the buckets of a histogram', () => {
    const buckets = new Buckets([0.5, 1])
    for (const value of [0.25, 0.5, 1, 3]) buckets.add(value)
    const text = expose([{ name: 'h', help: 'Why.', type: 'histogram', samples: () => distribution(buckets) }])
    expect(text).toContain('h_bucket{le="0.5"} 2\nh_bucket{le="1"} 3\nh_bucket{le="+Inf"} 4\nh_sum 4.75\nh_count 4\n')
  })

  it('has the age of the snapshot in seconds', () => {
    const options: Partial<MetricsOptions> = {
      time: systemTime,
      webhooks: null,
      cluster: () => null,
      snapshot: () => ({ rows: 1, bytes: 2, ageMs: 90_000 }),
      snapshotError: () => null,
    }
    const metrics = metricsOf(options as MetricsOptions).filter(({ name }) => name.startsWith('marquee_snapshot_'))
    expect(expose(metrics)).toContain('\nmarquee_snapshot_age_seconds 90\n')
  })
})
