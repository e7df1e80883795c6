import { createServer } from 'node:http'
import { body, headers } from './floor.ts'

const [, , port = '0'] = process.argv
const fields = Object.entries({ ...headers, 'Content-Length': String(body.length) }).flat()

createServer((_, response) => {
  response.writeHead(200, fields)
  response.end(body)
}).listen(Number(port), '127.0.0.1')
