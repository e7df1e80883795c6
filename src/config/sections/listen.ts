import { z } from 'zod'
import { basePath } from '../values/base-path.ts'
import { host } from '../values/host.ts'
import { wholeNumber } from '../values/whole-number.ts'

export interface Listen {
  readonly host: string
  /** 0 is any free one. */
  readonly port: number
  /** `/`, or `/a/b` without a slash at its end, percent-encoded as a URL's pathname. */
  readonly basePath: string
}

export const listenSection: z.ZodType<Listen> = z
  .strictObject({
    host: host()
      .prefault('127.0.0.1')
      .describe('The address to listen on; 0.0.0.0 is every IPv4 address of the machine.'),
    port: wholeNumber(0, 65_535).prefault(8080).describe('The port; 0 takes any free one, which is printed.'),
    basePath: basePath().prefault('/').describe('Every path, and the links of the HAL formats, live under it.'),
  })
  .prefault({})
  .describe('Where callers reach the service.')
