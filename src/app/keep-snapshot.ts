import type { Configuration } from '../config/configuration.ts'
import { dataFingerprintOf } from '../config/data-fingerprint.ts'
import { RECORDS } from '../crm/mapping/records-number.ts'
import type { Observe } from '../observe/observation.ts'
import { SNAPSHOT_FORMAT } from '../sync/snapshot-list.ts'
import type { Replica } from '../sync/replica.ts'
import type { Time } from '../time/time.ts'
import { yieldToEventLoop } from '../time/waiting.ts'
import { SnapshotFile } from '../snapshot/snapshot-file.ts'
import { SnapshotKeeper } from '../snapshot/snapshot-keeper.ts'

/** Which records a snapshot has, and instances share: those of another fingerprint have another snapshot, and another log. */
export function dataFingerprint(configuration: Configuration): string {
  return dataFingerprintOf(configuration, [SNAPSHOT_FORMAT, RECORDS])
}

/** Keeps the lists of a replica in the directory that the configuration names. */
export function keepSnapshot(
  directory: string,
  configuration: Configuration,
  replica: Replica,
  limits: { readonly memoryBytes: number },
  time: Time,
  observe: Observe,
): SnapshotKeeper {
  const file = new SnapshotFile({
    directory,
    fingerprint: dataFingerprint(configuration),
    limits,
    pause: yieldToEventLoop,
  })
  return new SnapshotKeeper({ file, replica, time, observe })
}
