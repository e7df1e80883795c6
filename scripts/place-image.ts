/** Writes docs/images/place-light.svg and place-dark.svg: where Marquee stands. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { drawPlace } from './draw-place.ts'

for (const theme of ['light', 'dark'] as const) {
  writeFileSync(join(import.meta.dirname, `../docs/images/place-${theme}.svg`), drawPlace(theme))
}
