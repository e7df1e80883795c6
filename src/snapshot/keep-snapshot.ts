import type { Configuration } from '../config/configuration.ts'
import { dataFingerprintOf } from './data-fingerprint.ts'
import { RECORDS } from '../crm/mapping/map-row.ts'
import type { Observe } from '../observe/observation.ts'
import { SNAPSHOT_FORMAT } from './snapshot-chunks.ts'
import type { Replica } from '../sync/replica.ts'
import type { Time } from '../time/time.ts'
import { yieldToEventLoop } from '../time/waiting.ts'
import { SnapshotFile } from './snapshot-file.ts'
import { SnapshotKeeper } from './snapshot-keeper.ts'

/** Identifies the records that a configuration makes. Each fingerprint has its own snapshot and its own cluster log. */
export function dataFingerprint(configuration: Configuration): string {
  return dataFingerprintOf(configuration, [SNAPSHOT_FORMAT, RECORDS])
}

/** Keeps a snapshot of the replica's lists in the directory. */
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
