import type { BigIntStats } from 'node:fs'
import { closeSync, fstat, openSync, read } from 'node:fs'
import { promisify } from 'node:util'
import type { Descriptors } from '../descriptors.ts'

/** As much of an open file as reading a list needs. */
export interface OpenFile {
  read(buffer: Buffer, offset: number, length: number, position: number): Promise<{ readonly bytesRead: number }>
  stat(): Promise<BigIntStats>
  close(): void
}

const readAt = promisify(read)
const statOf = promisify(fstat)

/** Opens a file that was just looked at, which takes no time; throws a system error. */
export function openFile(path: string, flags: number, descriptors: Descriptors): OpenFile {
  const descriptor = descriptors.take(() => openSync(path, flags))
  return {
    read: (buffer, offset, length, position) => readAt(descriptor, buffer, offset, length, position),
    stat: () => statOf(descriptor, { bigint: true }),
    close: () => descriptors.giveBack(() => closeSync(descriptor)),
  }
}
