import type { CrmBlock } from './crm/kinds.ts'
import type { General } from './general.ts'
import { isLoopback, sharesAddress } from './values/host.ts'
import { isPlain } from './values/web-origin.ts'

/** The settings a rule may look at; the CRM's are null where they are themselves wrong. */
export interface Settings {
  readonly general: General
  readonly crm: CrmBlock | null
}

interface Broken {
  readonly key: string
  /** The other key, whose line helps where `key` is not in the file. */
  readonly because: string
  readonly message: string
}

/** What holds between several keys. It is asked only where none of those keys has a problem of its own. */
export interface Rule {
  readonly reads: readonly string[]
  /** Null where the rule is kept. */
  readonly check: (settings: Settings) => Broken | null
}

/** Every rule across keys is here; what one value alone must be is said where the value is described. */
export const RULES: readonly Rule[] = [
  {
    reads: ['operations', 'operations.host', 'operations.token'],
    check({ general: { operations } }) {
      if (operations === null || operations.token !== null || isLoopback(operations.host)) return null
      const message =
        'is missing; it is needed where operations.host is not loopback: give { env: NAME } or { file: PATH }, or listen on 127.0.0.1'
      return { key: 'operations.token', because: 'operations.host', message }
    },
  },
  {
    reads: ['operations', 'operations.port', 'operations.host', 'listen', 'listen.port', 'listen.host'],
    check({ general: { listen, operations } }) {
      if (operations === null || listen.port !== operations.port || listen.port === 0) return null
      if (!sharesAddress(listen.host, operations.host)) return null
      const message = 'is the same as listen.port; each listener needs a port of its own'
      return { key: 'operations.port', because: 'listen.port', message }
    },
  },
  ...(['url', 'authority'] as const).map((name): Rule => ({
    reads: ['crm', `crm.${name}`, 'crm.allowInsecure'],
    check({ crm }) {
      if (crm?.kind !== 'dataverse' || crm.allowInsecure || !isPlain(crm[name])) return null
      const message = 'must begin with https:, since it carries secrets; crm.allowInsecure: true takes it all the same'
      return { key: `crm.${name}`, because: 'crm', message }
    },
  })),
  {
    reads: ['crm', 'crm.sweepEvery', 'freshness', 'freshness.bound'],
    check({ general: { freshness }, crm }) {
      if (crm?.kind !== 'postgres' || (crm.sweepEvery ?? 0) <= freshness.boundMs) return null
      const message = 'is longer than freshness.bound, so that every answer would have to wait for a sweep of its own'
      return { key: 'crm.sweepEvery', because: 'freshness.bound', message }
    },
  },
]
