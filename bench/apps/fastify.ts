import { createHash } from 'node:crypto'
import Fastify from 'fastify'
import { loadRows, render } from './render.ts'

const [, , file = '', port = '0'] = process.argv
const rows = loadRows(file)
const app = Fastify()

app.get<{ Params: { id: string } }>('/api/events/:id', (request, reply) => {
  const row = rows.get(request.params.id.toLowerCase())
  if (row === undefined) return reply.code(404).type('application/problem+json').send({ status: 404 })
  const { type, body } = render(row, request.headers.accept)
  return reply
    .type(`${type}; charset=utf-8`)
    .header('ETag', `"${createHash('sha1').update(body).digest('base64url')}"`)
    .header('Cache-Control', 'public, max-age=30')
    .header('Vary', 'Accept')
    .send(body)
})

await app.listen({ host: '127.0.0.1', port: Number(port) })
