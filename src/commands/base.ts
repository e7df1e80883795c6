import type { Configuration } from '../config/configuration.ts'
import { scopeOf } from '../config/scope.ts'
import { RECORDS } from '../crm/mapping/records-number.ts'
import type { Observe } from '../observe/observation.ts'
import { BASE_FORMAT } from '../replica/base.ts'
import type { Replica } from '../replica/replica.ts'
import type { Time } from '../replica/time.ts'
import { breathe } from '../replica/waiting.ts'
import { BaseFile } from '../share/base-file.ts'
import { BaseKeeper } from '../share/base-keeper.ts'

/** Which records a base has, and instances share: those of another scope have another base, and another log. */
export function sharedScope(configuration: Configuration): string {
  return scopeOf(configuration, [BASE_FORMAT, RECORDS])
}

/** Keeps the lists of a replica in the directory that the configuration names. */
export function keepBase(
  directory: string,
  configuration: Configuration,
  replica: Replica,
  limits: { readonly memoryBytes: number },
  time: Time,
  observe: Observe,
): BaseKeeper {
  const file = new BaseFile({
    directory,
    scope: sharedScope(configuration),
    limits,
    pause: breathe,
  })
  return new BaseKeeper({ file, replica, time, observe })
}
