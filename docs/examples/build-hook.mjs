// Runs a command each time that Marquee calls, one at a time: node build-hook.mjs 9000 npm run build
import { spawn } from 'node:child_process'
import { createServer } from 'node:http'

const [port, command, ...args] = process.argv.slice(2)
let [isDue, isBuilding] = [false, false]

function build() {
  if (!isDue || isBuilding) return
  isDue = false
  isBuilding = true
  spawn(command, args, { stdio: 'inherit' }).on('close', () => {
    isBuilding = false
    build()
  })
}

createServer(({ method }, response) => {
  response.writeHead(method === 'POST' ? 202 : 405).end()
  isDue ||= method === 'POST'
  build()
}).listen(Number(port), '127.0.0.1')
