/** The longest an error is cached, because a new event must not stay invisible for long (contract §1.3). */
export const ERROR_MAX_AGE_S = 5

/** The header fields of every answer with a body (contract §1.3). */
export const COMMON = {
  Vary: 'Accept',
  'X-Content-Type-Options': 'nosniff',
  'Access-Control-Allow-Origin': '*',
  // Without this, scripts on a page only see the few fields that CORS lists.
  'Access-Control-Expose-Headers': 'ETag, Age, Link, Retry-After',
}
