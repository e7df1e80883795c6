import { createServer } from 'node:http'
import { connect } from 'node:net'
import type { Socket } from 'node:net'

/**
 * A forward proxy as a process of its own: `bun forward-proxy.ts TARGET_PORT [USER:PASSWORD]`. Whatever it is asked
 * for, it connects to the target. Says its port, and then a line for each request.
 */
const [target = '0', credentials = ''] = process.argv.slice(2)
const wanted = credentials === '' ? undefined : `Basic ${Buffer.from(credentials).toString('base64')}`

const server = createServer((request, response) => {
  console.log(`PLAIN ${request.method} ${request.url}`)
  response.writeHead(501).end()
})
server.on('connect', (request, client: Socket, head) => {
  console.log(`CONNECT ${request.url}`)
  if (request.headers['proxy-authorization'] !== wanted) {
    client.end('HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n')
    return
  }
  const upstream = connect(Number(target), '127.0.0.1', () => {
    client.write('HTTP/1.1 200 Connection Established\r\n\r\n')
    upstream.write(head)
    upstream.pipe(client).pipe(upstream)
  })
  upstream.on('error', () => client.destroy())
  client.on('error', () => upstream.destroy())
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  console.log(`port ${typeof address === 'object' ? address?.port : ''}`)
})
