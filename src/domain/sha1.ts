// Imported like any other, each export of node:crypto is read once, `webcrypto` too, for which Node loads all of it.
const { hash } = process.getBuiltinModule('node:crypto')

/** The SHA-1 in hexadecimal: to tell things apart, never for secrecy, in half the time of SHA-256. */
export function sha1(bytes: string | Uint8Array): string {
  // In one call: of an object for it Node takes four times as long.
  return hash('sha1', bytes, 'hex')
}
