import type { Figure } from './report/figure.ts'
import type { Workshop } from './workshop.ts'

/** What a part found out. */
export interface Section {
  readonly title: string
  /** What was done, then what was measured. */
  readonly markdown: string
  readonly figures: readonly Figure[]
}

/** One question the benchmark answers; processes and folders that it leaves behind are cleared away by the run. */
export type Part = (workshop: Workshop) => Promise<Section>
