import type { z } from 'zod'
import type { CrmBlock, CrmConfiguration } from './crm/kinds.ts'
import { crmBlock } from './crm/kinds.ts'
import type { General, ShapeOf } from './general.ts'
import { generalSchema } from './general.ts'

/** All settings, checked, with defaults filled in; frozen throughout. */
export interface Configuration extends General {
  readonly crm: CrmConfiguration
}

export interface Written extends General {
  readonly crm: CrmBlock
}

/** The one schema of the file; what it takes and says is also the documentation. */
export const configurationSchema: z.ZodObject<ShapeOf<Written>, z.core.$strict> = generalSchema.safeExtend({
  crm: crmBlock,
})
