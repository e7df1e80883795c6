/** The constant body of the floor: as long as Marquee's, with the same headers. */
export const body: string = 'x'.repeat(1000)

export const headers: Readonly<Record<string, string>> = {
  'Content-Type': 'application/json; charset=utf-8',
  ETag: '"0123456789abcdef"',
  Age: '3',
  'Cache-Control': 'public, max-age=27',
  Vary: 'Accept',
  'X-Content-Type-Options': 'nosniff',
  'Access-Control-Allow-Origin': '*',
}
