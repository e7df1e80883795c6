import { commandSentences } from './commands.ts'
import { contract } from './contract.ts'
import { startOverHttp } from './over-http.ts'
import { stopSentences } from './stop.ts'
import { wireSentences } from './wire.ts'

const start = startOverHttp('bun')
contract('over HTTP on Bun', start)
wireSentences('over HTTP on Bun', start)
stopSentences('Bun', 'bun')
commandSentences('Bun', 'bun')
