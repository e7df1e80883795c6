import type { Configuration } from './configuration.ts'
import { configurationSchema } from './configuration.ts'
import { crmConfiguration } from './crm/kinds.ts'
import { deepFreeze } from './deep-freeze.ts'

/** The configuration that serves the lists in a directory, an absolute path, with every default. */
export function sampleConfiguration(directory: string): Configuration {
  const { crm, ...general } = configurationSchema.parse({ crm: { kind: 'files', directory } })
  return deepFreeze({ ...general, crm: crmConfiguration(crm, general, (path) => path) })
}
