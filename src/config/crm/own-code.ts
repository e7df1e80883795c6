import type { CrmSettings } from '../configuration.ts'
import type { CodeFile } from './module.ts'

/** The operator's own programs that read the CRM, as they were at the start. */
export function ownCode(crm: CrmSettings): readonly CodeFile[] {
  return crm.kind === 'module' ? [crm.path] : []
}
