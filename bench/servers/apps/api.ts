// An API of the lists in a folder, by pages. `POST /parse` lets the next question for changes ask for a large parse.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'

const [folder = '.'] = process.argv.slice(2)
const linesOf = (name: string): readonly string[] =>
  readFileSync(join(folder, `${name}.ndjson`), 'utf8')
    .trimEnd()
    .split('\n')
const lists = new Map(['events', 'venues'].map((name) => [`/${name}`, linesOf(name)]))
let parses = 0
let asked = 0

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
  const rows = lists.get(pathname)
  let body = '{}'
  if (rows !== undefined) {
    const [page, size] = [Number(searchParams.get('page')), Number(searchParams.get('size'))]
    body = `{"data":[${rows.slice((page - 1) * size, page * size).join(',')}]}`
  } else if (pathname === '/parse') parses++
  else if (pathname === '/changes') {
    asked++
    body = JSON.stringify({ parse: parses > 0 })
    if (parses > 0) parses--
  } else if (pathname === '/asked') body = JSON.stringify({ asked, parses })
  response.writeHead(200, { 'content-type': 'application/json' }).end(body)
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  console.log(typeof address === 'object' ? address?.port : '')
})
