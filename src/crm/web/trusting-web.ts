import { readFile } from 'node:fs/promises'
import type { OpenWeb, Web } from './web.ts'

/** A web that is opened with the first request, once the certificates it is to trust were read from their file. */
export function trustingWeb(openWeb: OpenWeb, caPath: string | null, proxyOf: (url: URL) => string | null): Web {
  let opening: Promise<Web> | null = null
  let isClosed = false

  async function open(): Promise<Web> {
    const ca = caPath === null ? [] : [await readCertificates(caPath)]
    return openWeb({ ca, proxyOf })
  }

  return {
    async send(request) {
      if (isClosed) throw Object.assign(new Error('closed'), { code: 'ERR_CLOSED' })
      opening ??= open().catch((cause: unknown) => {
        // The file may be there the next time.
        opening = null
        throw cause
      })
      return (await opening).send(request)
    },
    close() {
      isClosed = true
      void opening?.then(
        (web) => web.close(),
        () => {},
      )
    },
  }
}

async function readCertificates(path: string): Promise<string> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (cause) {
    throw Object.assign(new Error('crm.ca', { cause }), { code: 'ERR_CA_UNREADABLE' })
  }
  if (!text.includes('-----BEGIN CERTIFICATE-----')) throw Object.assign(new Error('crm.ca'), { code: 'ERR_CA_EMPTY' })
  return text
}
