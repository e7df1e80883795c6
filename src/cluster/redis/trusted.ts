import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { codeOf } from '../../domain/system-error.ts'
import { StoreFailure } from '../store.ts'

/** Reads the certificates of `cluster.ca`. Bun ignores a text without a certificate, and Node reports it as broken. */
export async function readTrusted(path: string): Promise<string> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (cause) {
    throw new StoreFailure(
      'lost',
      `the certificates of cluster.ca cannot be read (${codeOf(cause) ?? 'unknown reason'})`,
    )
  }
  if (isPem(text)) return text
  throw new StoreFailure('refused', 'cluster.ca holds no certificate: it must be a PEM file')
}

/** Returns true if the text begins with a readable certificate. */
function isPem(text: string): boolean {
  try {
    return new X509Certificate(text).subject !== ''
  } catch {
    return false
  }
}
