import { keepCompiled } from './compile-cache.ts'

// The process of a user's connector: `crm/child` starts it with this file.
keepCompiled()
const [{ runConnectorHost }, { openHttpClient }, { noteLoadedFiles }] = await Promise.all([
  import('../crm/child/connector-host.ts'),
  import('../runtime/outgoing.ts'),
  import('../runtime/runtime.ts'),
])
runConnectorHost(openHttpClient, noteLoadedFiles)
