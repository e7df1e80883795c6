import type { CrmSettings } from '../configuration.ts'
import type { CodeFile } from './own-process.ts'

/** The operator's own programs that read the CRM, as they were at the start. */
export function ownCode(crm: CrmSettings): readonly CodeFile[] {
  if (crm.kind === 'command') return crm.run.files
  return crm.kind === 'module' ? [crm.path] : []
}
