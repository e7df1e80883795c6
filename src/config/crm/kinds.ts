import { z } from 'zod'
import { unreachable } from '../../domain/unreachable.ts'
import type { General } from '../general.ts'
import type { DataverseBlock, DataverseCrm } from './dataverse.ts'
import { dataverseBlock, dataverseCrm } from './dataverse.ts'
import type { FilesBlock, FilesCrm } from './files.ts'
import { filesBlock, filesCrm } from './files.ts'
import type { PostgresBlock, PostgresCrm } from './postgres.ts'
import { postgresBlock, postgresCrm } from './postgres.ts'

/** What the `crm` section may hold, one kind each. A new CRM is a file beside this one and its lines here. */
export type CrmBlock = FilesBlock | DataverseBlock | PostgresBlock

export type CrmConfiguration = FilesCrm | DataverseCrm | PostgresCrm

export const crmBlock: z.ZodType<CrmBlock> = z
  .discriminatedUnion('kind', [filesBlock, dataverseBlock, postgresBlock])
  .describe('Where events and venues come from.')

/** The CRM's settings with all that depends on the others: defaults, and paths made absolute. */
export function crmConfiguration(
  block: CrmBlock,
  general: General,
  absolute: (path: string) => string,
): CrmConfiguration {
  switch (block.kind) {
    case 'files':
      return filesCrm(block, general, absolute)
    case 'dataverse':
      return dataverseCrm(block, general, absolute)
    case 'postgres':
      return postgresCrm(block, general, absolute)
    default:
      return unreachable(block)
  }
}
