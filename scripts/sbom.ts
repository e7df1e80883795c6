// `npm run --silent sbom [-- FILE]` writes the bill of materials of the production packages to FILE or standard output.
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { billOfMaterials } from './bill-of-materials.ts'

const bill = billOfMaterials(join(import.meta.dirname, '..'), { at: new Date(), uuid: randomUUID() })
writeFileSync(process.argv[2] ?? process.stdout.fd, `${JSON.stringify(bill, null, 2)}\n`)
