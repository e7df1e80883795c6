import { Buffer } from 'node:buffer'
import { fstatSync, writeSync } from 'node:fs'
import type { LineStream } from './line-sink.ts'

/**
 * A file, or a device that is no terminal, as a stream of lines; null for anything else. The runtimes' own streams do not
 * say that a file took a part of a line only: Node writes once and looks no further.
 */
export function fileLines(descriptor: number): LineStream | null {
  if (!isFile(descriptor)) return null
  return {
    write(text, then) {
      const bytes = Buffer.from(text)
      let written = 0
      try {
        while (written < bytes.length) written += writeSync(descriptor, bytes, written)
        then()
      } catch (cause) {
        then(cause instanceof Error ? cause : new Error('a line could not be written', { cause }), written)
      }
    },
    on() {},
  }
}

function isFile(descriptor: number): boolean {
  try {
    const stats = fstatSync(descriptor)
    return stats.isFile() || stats.isCharacterDevice()
  } catch {
    // It is closed.
    return false
  }
}
