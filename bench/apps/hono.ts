import { createHash } from 'node:crypto'
import { Hono } from 'hono'
import { loadRows, render } from './render.ts'

const [, , file = '', port = '0'] = process.argv
const rows = loadRows(file)
const app = new Hono()

app.get('/api/events/:id', (context) => {
  const row = rows.get(context.req.param('id').toLowerCase())
  if (row === undefined) return context.json({ status: 404 }, 404)
  const { type, body } = render(row, context.req.header('accept'))
  return context.body(body, 200, {
    'Content-Type': `${type}; charset=utf-8`,
    ETag: `"${createHash('sha1').update(body).digest('base64url')}"`,
    'Cache-Control': 'public, max-age=30',
    Vary: 'Accept',
  })
})

Bun.serve({ hostname: '127.0.0.1', port: Number(port), fetch: app.fetch })
