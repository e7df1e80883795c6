import { printable } from '../../domain/printable.ts'
import { Secret, withoutSecrets } from '../../domain/secret.ts'
import type { OpenHttpClient } from './http-client.ts'

const LONGEST_SHOWN = 2048
/**
 * Much more than is shown. Secrets are removed before the text is cut, because otherwise the beginning of a secret
 * could remain before the cut.
 */
const SEARCHED_BYTES = 65_536

const TOKEN = /("(?:access|refresh|id)_token"\s*:\s*")[^"]*/g
/**
 * The credentials of an Authorization header that an answer repeats (RFC 9110 §11.6.2). They may be encoded secrets.
 */
const AUTHORIZATION =
  /(\bauthorization(?:\W|quot){1,20}(?:basic|bearer|digest|negotiate|token)(?:\s|%20|\+)+)[^\s"'\\,;<>&]+/gi

/**
 * Prints each request to the CRM and the beginning of its answer, without the secrets.
 * @param secrets called for each line: secrets may be read again meanwhile
 */
export function tracedClient(
  open: OpenHttpClient,
  secrets: () => Iterable<string>,
  print: (line: string) => void,
): OpenHttpClient {
  const shown = (text: string): string =>
    printable(
      withoutSecrets(text, secrets()).replaceAll(TOKEN, '$1[secret]').replaceAll(AUTHORIZATION, '$1[secret]'),
      LONGEST_SHOWN,
    )
  return (options) => {
    const web = open(options)
    return {
      async send(request) {
        const { method, url, body } = request
        print(`> ${method} ${shown(url)}${body === null ? '' : ` ${shown(body)}`}`)
        try {
          const reply = await web.send(request)
          const head = new TextDecoder().decode(reply.body.subarray(0, SEARCHED_BYTES))
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

/** Returns all secrets of a configuration. Includes the earlier values of secrets that were read again. */
export function secretsIn(value: unknown): readonly string[] {
  if (value instanceof Secret) return [...value.texts]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(secretsIn)
}
