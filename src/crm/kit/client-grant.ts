import {
  type ClientAuth,
  ClientSecretPost,
  allowInsecureRequests,
  clientCredentialsGrantRequest,
  customFetch,
  processClientCredentialsResponse,
} from 'oauth4webapi'

export interface GrantRequest {
  readonly tokenUrl: string
  readonly clientId: string
  readonly clientSecret: string
  readonly scope?: string | null
  readonly sendAs: 'basic' | 'body'
}

export interface GrantedToken {
  readonly text: string
  /** How long the server says that the token lives; `null` if it does not say. */
  readonly lifeMs: number | null
}

/** Sends a request for a token, with a form as its body. */
export type SendGrant = (
  url: string,
  request: { readonly headers: Record<string, string>; readonly body: string },
) => Promise<Response>

/**
 * Matches an access token (RFC 6749 appendix A.12) that a header field can carry. The syntax of RFC 6750 §2.1 would be
 * too narrow: the tokens of Salesforce contain a `!`.
 */
const TOKEN = /^[\x21-\x7e]+$/
const LONGEST_TOKEN = 12_288

/**
 * Requests a token with the client credentials grant (RFC 6749 §4.4). Throws the library's `ResponseBodyError` if the
 * server refuses, and whatever `send` throws; `null` if the answer holds no bearer token.
 */
export async function requestToken(request: GrantRequest, send: SendGrant): Promise<GrantedToken | null> {
  const { tokenUrl, clientId, clientSecret, scope, sendAs } = request
  const server = { issuer: new URL(tokenUrl).origin, token_endpoint: tokenUrl }
  const client = { client_id: clientId }
  const proof = sendAs === 'body' ? ClientSecretPost(clientSecret) : basicOf(clientSecret)
  const response = await clientCredentialsGrantRequest(server, client, proof, scope ? { scope } : {}, {
    // The configuration already decided which addresses may use plain http.
    [allowInsecureRequests]: true,
    [customFetch]: (url, { headers, body }) => send(url, { headers, body: String(body) }),
  })
  const { access_token: text, expires_in: lifeS } = await processClientCredentialsResponse(server, client, response)
  if (text.length > LONGEST_TOKEN || !TOKEN.test(text)) return null
  return { text, lifeMs: lifeS === undefined ? null : lifeS * 1000 }
}

/** The library would also escape hyphens and dots, and servers that do not decode the text would refuse that. */
function basicOf(clientSecret: string): ClientAuth {
  return (_server, { client_id: clientId }, _body, headers) => {
    const user = [clientId, clientSecret].map((part) => encodeURIComponent(part)).join(':')
    headers.set('authorization', `Basic ${btoa(user)}`)
  }
}
