import { printable } from '../../domain/printable.ts'
import { Secret } from '../../domain/secret.ts'
import type { OpenHttpClient } from './http-client.ts'

const SHOWN_BYTES = 2048
const SHORTEST_MASKED = 4

/** Prints each request to the CRM and the beginning of its answer, without the secrets. */
export function tracedClient(
  open: OpenHttpClient,
  secrets: readonly string[],
  print: (line: string) => void,
): OpenHttpClient {
  const forms = secrets
    .filter((secret) => secret.length >= SHORTEST_MASKED)
    .flatMap((secret) => [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)])
  const masked = (text: string): string =>
    forms
      .reduce((rest, form) => rest.replaceAll(form, '[secret]'), text)
      .replaceAll(/("(?:access|refresh|id)_token"\s*:\s*")[^"]*/g, '$1[secret]')
  const shown = (text: string): string => printable(masked(text), SHOWN_BYTES)
  return (options) => {
    const web = open(options)
    return {
      async send(request) {
        const { method, url, body } = request
        print(`> ${method} ${shown(url)}${body === null ? '' : ` ${shown(body)}`}`)
        try {
          const reply = await web.send(request)
          const head = new TextDecoder().decode(reply.body.subarray(0, SHOWN_BYTES))
          print(`< ${reply.status} ${reply.headers['content-type'] ?? ''} ${shown(head)}`)
          return reply
        } catch (cause) {
          print(`< no answer${cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : ''}`)
          throw cause
        }
      },
      close: () => web.close(),
    }
  }
}

/** The secrets of a configuration. */
export function secretsIn(value: unknown): readonly string[] {
  if (value instanceof Secret) return [value.reveal()]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(secretsIn)
}
