// Removes from caches what has changed. npm install standardwebhooks, then
// SECRET=whsec_… MARQUEE=http://127.0.0.1:8080 VARNISH=http://127.0.0.1:6081 NGINX=http://127.0.0.1:8090 node purge.mjs
import { createServer } from 'node:http'
import { Webhook } from 'standardwebhooks'

const { SECRET, MARQUEE, VARNISH, NGINX, PORT = '9000', TYPES = 'application/json' } = process.env
const paths = ({ Kind, Href }) => [`/api${Href.slice(1)}`, ...(Kind === 'event' ? [`/api${Href.slice(1)}/venue`] : [])]
const purge = (path) => [
  ...(VARNISH ? [fetch(VARNISH + path, { method: 'PURGE' })] : []),
  ...(NGINX ? TYPES.split(' ').map((accept) => fetch(NGINX + path, { headers: { accept, 'x-purge': '1' } })) : []),
]

createServer(async (request, response) => {
  let text = ''
  for await (const chunk of request) text += chunk
  try {
    let page = new Webhook(SECRET).verify(text, request.headers).data
    for (; page.Items; page = page.More ? await (await fetch(`${MARQUEE}/api${page.Next.slice(1)}`)).json() : {})
      await Promise.all(page.Items.flatMap(paths).flatMap(purge))
    response.writeHead(204).end()
  } catch {
    // Marquee calls again.
    response.writeHead(500).end()
  }
}).listen(Number(PORT), '127.0.0.1')
