import { z } from 'zod'
import type { Secret } from '../secret.ts'
import { host } from '../values/host.ts'
import { secretText } from '../values/secret-text.ts'
import { wholeNumber } from '../values/whole-number.ts'

export interface Operations {
  readonly host: string
  /** 0 is any free one. */
  readonly port: number
  /** Null asks nobody for one, which only a loopback host allows. */
  readonly token: Secret | null
}

export const operationsSection: z.ZodType<Operations | null> = z
  .strictObject({
    host: host().prefault('127.0.0.1').describe('The address to listen on; anything but loopback needs a token.'),
    port: wholeNumber(0, 65_535).prefault(8081).describe('The port; 0 takes any free one, which is printed.'),
    // RFC 6750 §2.1: what an Authorization header can carry after `Bearer`.
    token: secretText('letters, digits and -._~+/ (a bearer token)', (text) => /^[\w.~+/-]+=*$/.test(text))
      .nullable()
      .prefault(null)
      .describe(
        'What callers must send as `Authorization: Bearer` for all but `/live` and `/ready`; null asks for none.',
      ),
  })
  .nullable()
  .prefault({})
  .describe('Health, metrics and the dashboard, on a listener of their own; null switches it off.')
