import type { Registry } from 'prom-client'
import type { Replica } from '../../replica/replica.ts'
import type { Time } from '../../replica/time.ts'
import { countWithheld } from '../count-withheld.ts'
import type { Sample } from './scraped.ts'
import { scrapedCounter, scrapedGauge } from './scraped.ts'

/** What is held of each list, and how old it is. */
export function addListMetrics(registry: Registry, { events, venues }: Replica, time: Time): void {
  const lists = [events, venues] as const
  scrapedGauge(registry, {
    name: 'marquee_data_age_seconds',
    help: 'How old a list is: since it was confirmed, and since it was last read in full; absent before the first read.',
    labelNames: ['list', 'age'],
    samples: () => lists.flatMap((replica) => agesOf(replica, time)),
  })
  scrapedGauge(registry, {
    name: 'marquee_records',
    help: 'Records that are served, and rows of the CRM that are withheld.',
    labelNames: ['list', 'state'],
    samples: () =>
      lists.flatMap(({ list }) => [
        { labels: { list: list.kind.name, state: 'served' }, value: list.served },
        { labels: { list: list.kind.name, state: 'withheld' }, value: list.withheld + list.extras.length },
      ]),
  })
  scrapedGauge(registry, {
    name: 'marquee_withheld_records',
    help: 'Rows of the CRM that are not served, by reason.',
    labelNames: ['list', 'reason'],
    samples: () => [
      ...withheldBy('events', countWithheld(events.list)),
      ...withheldBy('venues', countWithheld(venues.list)),
    ],
  })
  scrapedGauge(registry, {
    name: 'marquee_brake_engaged',
    help: '1 while a list that got much shorter is not believed until `marquee accept`.',
    labelNames: ['list'],
    samples: () =>
      lists.map(({ list, reader }) => ({ labels: { list: list.kind.name }, value: reader.braked ? 1 : 0 })),
  })
  scrapedCounter(registry, {
    name: 'marquee_drift_records_total',
    help: 'Records that had changed without the CRM reporting it; found by full reads.',
    labelNames: ['list'],
    samples: () => lists.map(({ list, reader }) => ({ labels: { list: list.kind.name }, value: reader.drift.records })),
  })
  scrapedCounter(registry, {
    name: 'marquee_drift_columns_total',
    help: 'The same by column; (row) where the whole row came, went, or changed between served and withheld.',
    labelNames: ['list', 'column'],
    samples: () =>
      lists.flatMap(({ list, reader }) =>
        [...reader.drift.byColumn].map(([column, value]) => ({ labels: { list: list.kind.name, column }, value })),
      ),
  })
}

function agesOf({ list, reader: { freshness } }: Replica['events'] | Replica['venues'], time: Time): Sample[] {
  const now = time.now()
  const ages = { confirmed: freshness.confirmedAgeMs(now), audited: freshness.auditedAgeMs(now) }
  return Object.entries(ages).flatMap(([age, ageMs]) =>
    ageMs === null ? [] : [{ labels: { list: list.kind.name, age }, value: ageMs / 1000 }],
  )
}

function withheldBy(list: string, counts: Readonly<Record<string, number>>): Sample[] {
  return Object.entries(counts).map(([reason, value]) => ({ labels: { list, reason }, value }))
}
