import type { Figure } from './report/figure.ts'
import type { Workshop } from './workshop.ts'

/** The result of a part. */
export interface Section {
  readonly title: string
  /** What was done, then what was measured. */
  readonly markdown: string
  readonly figures: readonly Figure[]
}

/** Answers one question of the benchmark. The run clears away the part's processes and folders. */
export type Part = (workshop: Workshop) => Promise<Section>
