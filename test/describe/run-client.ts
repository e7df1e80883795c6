import { useClient } from './use-client.ts'

console.log(JSON.stringify(await useClient(process.argv[2] ?? '')))
