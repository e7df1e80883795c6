import { body, headers } from './floor.ts'

const [, , port = '0'] = process.argv

Bun.serve({ hostname: '127.0.0.1', port: Number(port), fetch: () => new Response(body, { headers }) })
