import { commandSentences } from './commands.ts'
import { contract } from './contract.ts'
import { startOverHttp } from './over-http.ts'
import { stopSentences } from './stop.ts'
import { wireSentences } from './wire.ts'

const start = startOverHttp('node')
contract('over HTTP on Node', start)
wireSentences('over HTTP on Node', start)
stopSentences('Node', 'node')
commandSentences('Node', 'node')
