/** Writes the types within docs/examples/marquee-client.ts, and what only the package has: docs/openapi.json, docs/marquee.d.ts. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { descriptionFiles } from './description-files.ts'

for (const [path, text] of descriptionFiles()) writeFileSync(join(import.meta.dirname, '..', path), text)
